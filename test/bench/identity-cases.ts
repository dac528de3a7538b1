/** The cases of identity.ts: a known token, new tokens, and an RBAC decision. */
import type { KubeObject } from '../../src/api/object.ts'
import { rbac } from '../../src/authorization/rbac.ts'
import { resourceAttributes } from '../../src/authorization/attributes.ts'
import { compileExpressionsWith } from '../../src/authentication/expression.ts'
import { authenticateToken, knownToken } from '../../src/authentication/token-authenticator.ts'
import { compileIdentityExpression } from '../../src/expressions/identity-expressions.ts'
import type { ControlSnapshot } from '../../src/tenancy/control-snapshot.ts'
import { frontReaching, Issuer, signed, signingKey } from '../authentication/issuers/issuer.ts'
import { memoryServer } from '../request-in-memory.ts'

compileExpressionsWith(async () => compileIdentityExpression)

const URL_ = 'https://issuer.example'

/** @returns functions that check a known token and `count` new ones */
export async function tokens(count: number) {
  const key = await signingKey('one')
  const issuer = new Issuer(URL_)
  issuer.keys = [key.jwk]
  const configuration = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: { url: URL_, audiences: ['kedge'] },
        claimMappings: { username: { claim: 'sub', prefix: '' }, groups: { claim: 'groups', prefix: '' } },
      },
    ],
  }
  const server = memoryServer({
    OUTGOING: frontReaching(issuer),
    KEDGE_AUTHENTICATION_CONFIG: JSON.stringify(configuration),
  })
  const exp = Math.floor(server.now.getTime() / 1000) + 3600
  const made = await Promise.all(
    Array.from({ length: count }, (_, n) =>
      signed({ key, claims: { iss: URL_, aud: 'kedge', sub: `u${n}`, groups: ['dev', 'ops'], exp } }),
    ),
  )
  await authenticateToken(server, made[0]!)
  return { known: () => knownToken(server, made[0]!), fresh: (n: number) => authenticateToken(server, made[n]!) }
}

/**
 * RBAC for a user with one of a thousand bindings: a thousand roles have five thousand rules, and the last rule allows.
 */
export function question(): () => unknown {
  const names = Array.from({ length: 1000 }, (_, n) => `r${n}`)
  const roles = new Map<string, KubeObject>(
    names.map((name) => [
      name,
      {
        metadata: { name },
        rules: Array.from({ length: 5 }, (_, n) => ({ verbs: ['get'], apiGroups: [''], resources: [`things${n}`] })),
      } as KubeObject,
    ]),
  )
  const bindings = names.map((name, n) => ({
    metadata: { name },
    subjects: [{ kind: 'User', name: `u${n}` }],
    roleRef: { kind: 'ClusterRole', name },
  }))
  // rbac.ts reads only these parts of a snapshot
  const snapshot = {
    list: () => bindings,
    inNamespace: () => [],
    get: (_: unknown, name: string) => roles.get(name),
  } as unknown as ControlSnapshot
  const user = { name: 'u999', uid: '', groups: ['dev', 'system:authenticated'], extra: {} }
  const asked = resourceAttributes(user, 'get', { resource: 'things4', namespace: 'a', name: 'b' })
  return () => rbac(snapshot, asked)
}
