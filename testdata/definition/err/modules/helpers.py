import tomllib
