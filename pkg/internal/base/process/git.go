package process

import (
	"os"
	"slices"
	"strings"
)

// settings replace those of a repository that name a program. A clone gets none of them
// from its remote, but an archive with a directory .git has them, and so has a file of the
// project that the settings include.
var settings = []string{
	"core.alternateRefsCommand=",
	"core.askPass=",
	"core.attributesFile=" + os.DevNull,
	"core.editor=false",
	"core.fsmonitor=false",
	"core.gitProxy=none",
	"core.hooksPath=" + os.DevNull,
	"core.pager=cat",
	"core.sshCommand=false",
	"credential.helper=",
	"diff.external=",
	"fetch.recurseSubmodules=false",
	"gpg.program=false",
	"log.showSignature=false",
	"maintenance.auto=false",
	"protocol.allow=never",         // fetches nothing, not even the missing objects of a partial clone
	"safe.bareRepository=explicit", // a directory of the project is no repository
	"submodule.recurse=false",
	"uploadpack.packObjectsHook=",
}

// isolateGit lets git read one repository, and start and fetch nothing. The settings of
// the user and of the system stay in effect, because only they can say that a directory of
// another user is safe.
func isolateGit(c *Cmd) {
	options := []string{"--no-pager", "--no-optional-locks", "--no-replace-objects", "--literal-pathspecs"}
	for _, setting := range settings {
		options = append(options, "-c", setting)
	}
	c.Args = slices.Insert(c.Args, 1, options...)
	c.Env = append(
		Without(c.Env, func(name string) bool {
			return strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "GIT_CONFIG") || name == "SSH_ASKPASS"
		}),
		"GIT_ALLOW_PROTOCOL=", "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "GIT_ATTR_NOSYSTEM=1",
	)
}
