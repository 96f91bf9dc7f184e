"""Decides about the certificate request of a kubelet. The decision is a ConfigMap, from which the operator makes the approval."""

import base64
import ipaddress
import json
import os
import re
import socket

COMMON_NAME = bytes([0x55, 4, 3])
EXTENSIONS = bytes([0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 14])
ALTERNATIVE_NAMES = bytes([0x55, 0x1D, 0x11])
DNS_NAME, ADDRESS = 0x82, 0x87


def values(der):
    """The tags and contents of a sequence of DER values."""
    at, found = 0, []
    while at < len(der):
        tag, length, at = der[at], der[at + 1], at + 2
        if length & 0x80:
            size = length & 0x7F
            length, at = int.from_bytes(der[at:at + size], "big"), at + size
        if at + length > len(der):
            raise ValueError("a value is longer than the request")
        found.append((tag, der[at:at + length]))
        at += length
    return found


def contents(der):
    return [content for _, content in values(der)]


def parse(request):
    """The common name, the DNS names and the addresses of a request."""
    begin, end = "-----BEGIN CERTIFICATE REQUEST-----", "-----END CERTIFICATE REQUEST-----"
    text = base64.b64decode(request).decode()
    der = base64.b64decode(text[text.index(begin) + len(begin):text.index(end)])
    _, subject, _, *attributes = contents(contents(contents(der)[0])[0])
    pairs = [contents(pair) for name in contents(subject) for pair in contents(name)]
    names = []
    for attribute in attributes:
        for kind, found in map(contents, contents(attribute)):
            for extension in contents(contents(found)[0]) if kind == EXTENSIONS else []:
                parts = contents(extension)
                names += values(contents(parts[-1])[0]) if parts[0] == ALTERNATIVE_NAMES else []
    return (next((value.decode() for key, value in pairs if key == COMMON_NAME), ""),
            [value.decode() for tag, value in names if tag == DNS_NAME],
            [ipaddress.ip_address(value) for tag, value in names if tag == ADDRESS])


def resolve(name):
    try:
        return [ipaddress.ip_address(found[4][0]) for found in socket.getaddrinfo(name, None)]
    except OSError:
        return []


def denial(spec, parameters):
    """Why the request is denied, or None."""
    common_name, names, addresses = parse(spec["request"])
    user = spec.get("username", "")
    allowed = [ipaddress.ip_network(prefix, strict=False) for prefix in parameters["ipPrefixes"].split(",")]

    def permitted(address):
        return any(address in network for network in allowed)

    if not user.startswith("system:node:"):
        return "CSR Spec.Username is not prefixed with system:node:"
    if not names and not addresses:
        return "The x509 Cert Request SAN contains neither an IP address nor a DNS name"
    if common_name != user:
        return "CSR username does not match the parsed x509 certificate request commonname"
    if len(names) > parameters["allowedDNSNames"]:
        return "The x509 Cert Request contains more DNS names than allowed through the config flag"
    for name in names:
        if not name.startswith(user[len("system:node:"):]) and not parameters["bypassHostnameCheck"]:
            return "The SAN DNS Name in the x509 CSR is not prefixed by the node name (hostname)"
        if not re.search(parameters["regex"], name):
            return "The SAN DNS name in the x509 CR is not allowed by the Cloud provider regex"
    if names and not parameters["bypassDNSResolution"]:
        resolved = []
        for name in names:
            found = resolve(name)
            if not found:
                return "The SAN DNS Name could not be resolved, denying the CSR"
            resolved += found
        for address in resolved:
            if not permitted(address):
                return "One of the resolved IP addresses, %s, isn't part of the provider-specified set of whitelisted IP" % address
        for address in addresses:
            if address not in resolved:
                return "One of the SAN IP addresses, %s, is not contained in the set of resolved IP addresses" % address
    for address in addresses:
        if not permitted(address):
            return "One of the SAN IP addresses, %s, is not part of the allowed IP Prefixes/Subnets" % address
    if spec.get("expirationSeconds", 0) > parameters["maxExpirationSeconds"]:
        return "CSR spec.expirationSeconds is longer than the maximum allowed expiration second"
    return None


def decision(request):
    """What the ConfigMap says, or None where somebody else decides."""
    csr, parameters = request["object"], request["parameters"]
    spec, status = csr["spec"], csr.get("status", {})
    if spec["signerName"] != "kubernetes.io/kubelet-serving" or status.get("certificate"):
        return None
    if parameters["ignoreNonSystemNode"] and not spec.get("username", "").startswith("system:node:"):
        return None
    try:
        reason = denial(spec, parameters)
    except (ValueError, IndexError) as error:
        print("unable to parse csr %s: %s" % (csr["metadata"]["name"], error))
        return None
    if reason is None:
        return {"type": "Approved", "reason": "kubelet-serving cert validated",
                "message": "CSR complied with kubelet-csr-approver validation process"}
    if parameters["skipDeny"]:
        print("not denied: " + reason)
        return None
    return {"type": "Denied", "reason": "kubelet-serving cert denied",
            "message": "CSR not complying with kubelet-csr-approver validation process. Reason: " + reason}


def sync(request):
    made = list(request["attachments"]["ConfigMap.v1"].values())
    if request["object"].get("status", {}).get("conditions"):
        found = made and made[0]["data"]  # it stays as long as its request
    else:
        found = decision(request)
    if not found:
        return []
    csr = request["object"]["metadata"]
    return [{"apiVersion": "v1", "kind": "ConfigMap", "data": found,
             "metadata": {"name": "csr-" + csr["uid"], "namespace": "kubelet-csr-approver"}}]


with open(os.environ["ARGOPERATOR_REQUEST"]) as file:
    given = json.load(file)
with open(os.environ["ARGOPERATOR_RESPONSE"], "w") as file:
    json.dump({"attachments": sync(given)}, file)
