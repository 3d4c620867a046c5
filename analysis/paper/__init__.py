"""The four papers as data: `tables` reads them."""
