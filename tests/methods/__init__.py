"""Tests of whole optimiser steps. A package, so that worker processes can import its functions."""
