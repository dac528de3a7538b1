//go:build tools

package tools

import _ "github.com/open-policy-agent/gatekeeper/v3"
