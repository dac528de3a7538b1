/** AuthenticationConfiguration of apiserver.config.k8s.io: trusted issuers, and anonymous requests. */
import * as z from 'zod/mini'
import { BadConfiguration, flag, listOf, readConfiguration, structOf, text } from '../configuration-text.ts'

const prefixed = structOf({
  claim: text,
  /** Undefined: not set, which is not the same as ''. */
  prefix: z.optional(z.nullable(z.string())),
  expression: text,
})

const claimMappings = structOf({
  username: prefixed,
  groups: prefixed,
  uid: structOf({ claim: text, expression: text }),
  extra: listOf(structOf({ key: text, valueExpression: text })),
})

const jwtAuthenticator = structOf({
  issuer: structOf({
    url: text,
    discoveryURL: text,
    certificateAuthority: text,
    audiences: listOf(z.string()),
    audienceMatchPolicy: text,
    egressSelectorType: text,
  }),
  claimValidationRules: listOf(structOf({ claim: text, requiredValue: text, expression: text, message: text })),
  claimMappings,
  userValidationRules: listOf(structOf({ expression: text, message: text })),
})

const anonymous = z.strictObject({
  enabled: flag,
  conditions: listOf(structOf({ path: text })),
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
export async function readAuthenticationConfiguration(configuration: string): Promise<AuthenticationConfiguration> {
  if (configuration === '') throw new BadConfiguration('empty config data')
  return readConfiguration(configuration, {
    kind: 'AuthenticationConfiguration',
    versions: ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`),
    schema,
  })
}
