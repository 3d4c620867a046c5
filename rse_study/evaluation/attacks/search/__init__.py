"""Search methods: the order in which words are changed."""
