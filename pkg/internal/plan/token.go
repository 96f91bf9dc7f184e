package plan

// The token by which the Sensors of the direct engine call the API server: an
// http trigger knows no service account. By default it is one that Kubernetes
// keeps in a Secret, and that does not expire. With install.tokenRotation it is
// requested from the API server again and again, and each one expires. Requested
// tokens are bound to their Secret: where that is deleted, none of them is valid.

// Rotates tells whether the token is replaced from time to time.
func (p *Plan) Rotates() bool { return p.Reconcile.Execution.HTTPTriggers && p.Install.TokenHours > 0 }

// Rotation is the name of the CronWorkflow that does it, and of what belongs to it.
func (p *Plan) Rotation() string { return p.Operator.Name + "-token" }

// AuthorizationKey is where a Secret has the whole header, with a token that expires.
const AuthorizationKey = "authorization"

// lives is how many rotations long a token is valid: two may fail.
const lives = 3

func runtimeToken(p *Plan) *RuntimeToken {
	if !p.Rotates() {
		return nil
	}
	return &RuntimeToken{
		ServiceAccount: p.Names.SensorServiceAccount, Secret: p.Names.TokenSecret, Key: AuthorizationKey,
		Seconds: int64(p.Install.TokenHours) * lives * 3600,
	}
}

func rotationGrants(p *Plan) []Grant {
	if !p.Rotates() {
		return nil
	}
	return []Grant{
		{
			Account: Rotator, Resource: "serviceaccounts/token", Names: []string{p.Names.SensorServiceAccount}, Verbs: []string{"create"},
			Why: "a new token of the Sensors is requested",
		},
		{
			Account: Rotator, Resource: "secrets", Names: []string{p.Names.TokenSecret}, Verbs: []string{"patch"},
			Why: "the new token is handed to the Sensors",
		},
		taskResults(Rotator),
	}
}
