"""In which order words are changed."""
