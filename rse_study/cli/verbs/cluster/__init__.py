"""The bodies of `cluster ...`: one file a verb."""
