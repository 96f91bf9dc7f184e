#!/bin/sh
. ./lib/quota.sh
