package plan

// The Sensors of the direct engine call the API server with this token, because an http
// trigger does not use a service account. By default it is a service account token
// Secret, which does not expire. With install.tokenRotation, a CronWorkflow requests
// short-lived tokens. They are bound to their Secret: deleting the Secret invalidates
// all of them.

// RotatesToken reports whether the token is rotated.
func (p *decided) RotatesToken() bool {
	return !p.Reconcile.Execution.RunsPods && p.Install.TokenHours > 0
}

// TokenRotationName returns the name of the CronWorkflow that rotates the token, and of
// the objects it needs.
func (p *declared) TokenRotationName() string {
	return p.Operator.Name + "-token"
}

// AuthorizationKey is the key of the Secret with the complete Authorization header, for
// a token that expires.
const AuthorizationKey = "authorization"

// tokenLifetime is the lifetime of a token in rotations: two rotations may fail.
const tokenLifetime = 3

func runtimeToken(p *decided) *RuntimeToken {
	if !p.RotatesToken() {
		return nil
	}
	return &RuntimeToken{
		ServiceAccount: p.Names.SensorServiceAccount, Secret: p.Names.TokenSecret, Key: AuthorizationKey,
		Seconds: int64(p.Install.TokenHours) * tokenLifetime * 3600,
	}
}

func rotationGrants(p *configured) []Grant {
	if !p.RotatesToken() {
		return nil
	}
	return []Grant{
		{
			Account: TokenAccount, Resource: "serviceaccounts/token", Names: []string{p.Names.SensorServiceAccount},
			Verbs:  []string{"create"},
			Reason: "request a new token for the Sensors",
		},
		{
			Account: TokenAccount, Resource: "secrets", Names: []string{p.Names.TokenSecret}, Verbs: []string{"patch"},
			Reason: "store the new token in the Secret of the Sensors",
		},
		taskResults(TokenAccount),
	}
}
