"""Several machines on one: network namespaces, a real S3 server, Ray over them."""
