#!/bin/sh
exec wc -w "$@"
