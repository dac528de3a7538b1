/** AuthenticationConfiguration of apiserver.config.k8s.io: trusted issuers, and anonymous requests. */
import * as z from 'zod/mini'
import { listOf, readConfiguration, text } from '../configuration-text.ts'

const prefixed = z.strictObject({
  claim: text,
  /** Undefined: not set, which is not the same as ''. */
  prefix: z.optional(z.nullable(z.string())),
  expression: text,
})
const NOTHING = { claim: '', expression: '' }

const claimMappings = z.strictObject({
  username: z._default(prefixed, NOTHING),
  groups: z._default(prefixed, NOTHING),
  uid: z._default(z.strictObject({ claim: text, expression: text }), NOTHING),
  extra: listOf(z.strictObject({ key: text, valueExpression: text })),
})

const jwtAuthenticator = z.strictObject({
  issuer: z.strictObject({
    url: text,
    discoveryURL: text,
    certificateAuthority: text,
    audiences: listOf(z.string()),
    audienceMatchPolicy: text,
    egressSelectorType: text,
  }),
  claimValidationRules: listOf(z.strictObject({ claim: text, requiredValue: text, expression: text, message: text })),
  claimMappings,
  userValidationRules: listOf(z.strictObject({ expression: text, message: text })),
})

const anonymous = z.strictObject({
  enabled: z._default(z.boolean(), false),
  conditions: listOf(z.strictObject({ path: text })),
})

const schema = z.strictObject({
  apiVersion: z.string(),
  kind: z.string(),
  jwt: listOf(jwtAuthenticator),
  anonymous: z.optional(z.nullable(anonymous)),
})

export type AuthenticationConfiguration = Pick<z.infer<typeof schema>, 'jwt' | 'anonymous'>
export type JwtAuthenticator = z.infer<typeof jwtAuthenticator>
export type PrefixedClaimOrExpression = z.infer<typeof prefixed>
export type AnonymousConfiguration = z.infer<typeof anonymous>

/** @param configuration YAML or JSON @throws BadConfiguration */
export const readAuthenticationConfiguration = (configuration: string): Promise<AuthenticationConfiguration> =>
  readConfiguration(configuration, {
    kind: 'AuthenticationConfiguration',
    versions: ['apiserver.config.k8s.io/v1', 'apiserver.config.k8s.io/v1beta1'],
    schema,
  })
