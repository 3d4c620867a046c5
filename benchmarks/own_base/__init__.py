"""Is the licence-free text at hand enough for a base encoder of our own?"""
