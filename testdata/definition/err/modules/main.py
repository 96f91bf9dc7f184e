"""The text of a program may say
import nothing
"""

import json, yaml
import helpers
from distutils import util
from requests.adapters import HTTPAdapter

try:
    import simplejson
except ImportError:
    simplejson = json
