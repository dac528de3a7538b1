//go:build tools

package tools

import _ "github.com/kyverno/kyverno/cmd/kyverno"
