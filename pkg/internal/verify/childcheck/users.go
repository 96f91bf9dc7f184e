package childcheck

import (
	"slices"
	"strconv"
	"strings"

	"github.com/argoperator/argoperator/pkg/diag"
	"github.com/argoperator/argoperator/pkg/internal/lang/schema"
)

// unsafeContainers warns of containers that the kubelet does not start, or with more rights than they seem to have.
func (f *family) unsafeContainers(child int) diag.List {
	for _, cr := range f.having(child) {
		for _, made := range f.objects(child, cr) {
			in, makes := podAt(made)
			if !makes {
				continue
			}
			pod := slices.Concat(in, []string{"spec"})
			for _, list := range containerLists {
				for _, container := range mappings(made.object, nil, slices.Concat(pod, []string{list, "*"})) {
					findings := slices.Concat(f.forbiddenUser(made, container, pod), f.unknownCapabilities(made, container))
					if len(findings) > 0 {
						return findings
					}
				}
			}
		}
	}
	return nil
}

// forbiddenUser warns of a container that may not run as root, and whose user is root: the kubelet does not start it.
func (f *family) forbiddenUser(m member, container, pod []string) diag.List {
	user, at := securityOf(m, "runAsUser", container, pod)
	nonRoot, _ := securityOf(m, "runAsNonRoot", container, pod)
	var findings diag.List
	if nonRoot == true && (user == float64(0) || user == int64(0) || user == 0) {
		findings.Warn(f.at(m.child, at...), diag.ConflictingKeys,
			"runAsNonRoot is true, and runAsUser is the user root: the kubelet does not start the container",
			"write a runAsUser greater than 0, or remove it")
	}
	return findings
}

// capabilities are those of Linux, as Kubernetes names them.
var capabilities = strings.Fields(`ALL
	AUDIT_CONTROL AUDIT_READ AUDIT_WRITE BLOCK_SUSPEND BPF CHECKPOINT_RESTORE CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID
	IPC_LOCK IPC_OWNER KILL LEASE LINUX_IMMUTABLE MAC_ADMIN MAC_OVERRIDE MKNOD NET_ADMIN NET_BIND_SERVICE NET_BROADCAST NET_RAW
	PERFMON SETFCAP SETGID SETPCAP SETUID SYSLOG SYS_ADMIN SYS_BOOT SYS_CHROOT SYS_MODULE SYS_NICE SYS_PACCT SYS_PTRACE SYS_RAWIO
	SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG WAKE_ALARM`)

// unknownCapabilities warns of a capability that Linux does not have: a runtime drops nothing for it, and does not start a
// container that adds it.
func (f *family) unknownCapabilities(m member, container []string) diag.List {
	var findings diag.List
	for _, change := range []string{"drop", "add"} {
		at := slices.Concat(container, []string{"securityContext", "capabilities", change})
		list, _ := schema.ValueAt(m.object, at...).([]any)
		for i := range list {
			place := append(slices.Clip(at), strconv.Itoa(i))
			name, _ := f.constant(m, place).(string)
			known := strings.TrimPrefix(strings.ToUpper(name), "CAP_")
			if name == "" || known == name && slices.Contains(capabilities, name) {
				continue
			}
			if !slices.Contains(capabilities, known) {
				known = diag.Nearest(known, capabilities, diag.FoldKey)
			}
			hint := "write a capability of Linux without CAP_, such as NET_BIND_SERVICE, or ALL"
			if known != "" {
				hint = "write " + known
			}
			findings.Warn(f.at(m.child, place...), diag.BadValue, "there is no capability "+name, hint)
		}
	}
	return findings
}

// securityOf returns a field of the securityContext of the first place that has it, and where it is.
func securityOf(m member, name string, places ...[]string) (value any, at []string) {
	for _, place := range places {
		at = slices.Concat(place, []string{"securityContext", name})
		if value = schema.ValueAt(m.object, at...); value != nil {
			return value, at
		}
	}
	return nil, nil
}
