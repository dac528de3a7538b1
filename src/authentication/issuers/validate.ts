/**
 * Validates an AuthenticationConfiguration (apiserver's ValidateAuthenticationConfiguration), and compiles its
 * expressions.
 */
import { append } from '../../base/append.ts'
import type { FieldError, FieldPath } from '../../api/field.ts'
import { duplicate, internalFieldError, invalidValue, path, required, tooMany } from '../../api/field.ts'
import { goQuote } from '../../go/quote.ts'
import { parseReference } from '../../go/url.ts'
import { validateDomainPath } from '../../validation/field-rules.ts'
import { readAuthorities } from '../../x509/client-chain.ts'
import { pemBlocks } from '../../x509/pem.ts'
import type { CompileExpression, Expression, ExpressionUse } from '../expression.ts'
import type { AuthenticationConfiguration, JwtAuthenticator, PrefixedClaimOrExpression } from './configuration.ts'

const MAX_AUTHENTICATORS = 64

/** The expressions of an authenticator. */
export interface Mapper {
  readonly username?: Expression
  readonly groups?: Expression
  readonly uid?: Expression
  readonly extra: readonly { readonly key: string; readonly expression: Expression }[]
  readonly claimRules: readonly Rule[]
  readonly userRules: readonly Rule[]
}

export interface Rule {
  readonly expression: Expression
  readonly message: string
}

export interface Validated {
  readonly errors: readonly FieldError[]
  /** One for each authenticator. Valid only where there are no errors. */
  readonly mappers: readonly Mapper[]
}

/** @param disallowed this server's own issuers */
export function validateAuthenticationConfiguration(
  { jwt, anonymous }: AuthenticationConfiguration,
  disallowed: readonly string[],
  compile: CompileExpression,
): Validated {
  const root = path('jwt')
  if (jwt.length > MAX_AUTHENTICATORS) return { errors: [tooMany(root, jwt.length, MAX_AUTHENTICATORS)], mappers: [] }
  const errors: FieldError[] = []
  const mappers: Mapper[] = []
  const [issuers, discoveries] = [new Set<string>(), new Set<string>()]
  for (const [index, authenticator] of jwt.entries()) {
    const at = root.index(index)
    const { url, discoveryURL } = authenticator.issuer
    mappers.push(new AuthenticatorValidation(compile, errors).run(authenticator, disallowed, at))
    if (issuers.has(url)) errors.push(duplicate(at.child('issuer', 'url'), url))
    issuers.add(url)
    if (discoveryURL !== '' && discoveries.has(discoveryURL))
      errors.push(duplicate(at.child('issuer', 'discoveryURL'), discoveryURL))
    discoveries.add(discoveryURL)
  }
  if (anonymous?.enabled === false && anonymous.conditions.length > 0)
    errors.push(
      invalidValue(
        path('anonymous', 'conditions'),
        // the text of Go's struct, with the names of its fields
        anonymous.conditions.map(({ path: Path }) => ({ Path })),
        'enabled should be set to true when conditions are defined',
      ),
    )
  return { errors, mappers }
}

function issuerErrors(issuer: JwtAuthenticator['issuer'], disallowed: readonly string[], at: FieldPath): FieldError[] {
  const { url, discoveryURL, certificateAuthority, egressSelectorType } = issuer
  const errors: FieldError[] = []
  if (url === '') errors.push(required(at.child('url')))
  else append(errors, urlErrors(url, disallowed, at.child('url')))
  if (discoveryURL !== '') {
    const discoveryAt = at.child('discoveryURL')
    if (url !== '' && withoutSlashes(url) === withoutSlashes(discoveryURL))
      errors.push(invalidValue(discoveryAt, discoveryURL, 'discoveryURL must be different from URL'))
    append(errors, urlErrors(discoveryURL, [], discoveryAt))
  }
  append(errors, audienceErrors(issuer, at))
  const problem = certificateAuthority === '' ? undefined : authorityProblem(certificateAuthority)
  if (problem !== undefined) errors.push(invalidValue(at.child('certificateAuthority'), '<omitted>', problem))
  if (egressSelectorType !== '' && egressSelectorType !== 'controlplane' && egressSelectorType !== 'cluster')
    errors.push(
      invalidValue(
        at.child('egressSelectorType'),
        egressSelectorType,
        'egress selector must be either controlplane or cluster',
      ),
    )
  return errors
}

const withoutSlashes = (url: string): string => {
  let end = url.length
  while (end > 0 && url[end - 1] === '/') end--
  return url.slice(0, end)
}

function authorityProblem(pem: string): string | undefined {
  const blocks = pemBlocks(pem).filter(({ type }) => type === 'CERTIFICATE')
  if (blocks.length === 0) return 'data does not contain any valid RSA or ECDSA certificates'
  try {
    readAuthorities(pem)
    return undefined
  } catch {
    return 'x509: malformed certificate'
  }
}

function urlErrors(text: string, disallowed: readonly string[], at: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  if (disallowed.includes(text))
    errors.push(
      invalidValue(at, text, `URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(' ')}]`),
    )
  const url = parseReference(text)
  if ('problem' in url) return [...errors, invalidValue(at, text, url.problem)]
  if (url.scheme !== 'https') errors.push(invalidValue(at, text, 'URL scheme must be https'))
  // Go takes URLs that nobody can reach
  else if (!URL.canParse(text)) errors.push(invalidValue(at, text, `parse ${goQuote(text)}: invalid URL`))
  if (url.user !== undefined) errors.push(invalidValue(at, text, 'URL must not contain a username or password'))
  if (url.query) errors.push(invalidValue(at, text, 'URL must not contain a query'))
  if (url.fragment !== '') errors.push(invalidValue(at, text, 'URL must not contain a fragment'))
  return errors
}

function audienceErrors({ audiences, audienceMatchPolicy }: JwtAuthenticator['issuer'], issuerAt: FieldPath) {
  const at = issuerAt.child('audiences')
  if (audiences.length === 0) return [required(at, `at least one ${at} is required`)]
  const errors: FieldError[] = []
  const seen = new Set<string>()
  for (const [index, audience] of audiences.entries()) {
    if (audience === '') errors.push(required(at.index(index)))
    if (seen.has(audience)) errors.push(duplicate(at.index(index), audience))
    seen.add(audience)
  }
  const policyAt = issuerAt.child('audienceMatchPolicy')
  if (audiences.length > 1 && audienceMatchPolicy !== 'MatchAny')
    errors.push(
      invalidValue(policyAt, audienceMatchPolicy, 'audienceMatchPolicy must be MatchAny for multiple audiences'),
    )
  if (audiences.length === 1 && audienceMatchPolicy !== '' && audienceMatchPolicy !== 'MatchAny')
    errors.push(
      invalidValue(policyAt, audienceMatchPolicy, 'audienceMatchPolicy must be empty or MatchAny for single audience'),
    )
  return errors
}

class AuthenticatorValidation {
  /** The expressions that may test whether an address is verified. Bound: those of one authenticator. */
  private readonly expressions: Expression[] = []

  constructor(
    private readonly compile: CompileExpression,
    private readonly errors: FieldError[],
  ) {}

  run(authenticator: JwtAuthenticator, disallowed: readonly string[], at: FieldPath): Mapper {
    append(this.errors, issuerErrors(authenticator.issuer, disallowed, at.child('issuer')))
    const claimRules = this.claimRules(authenticator.claimValidationRules, at.child('claimValidationRules'))
    const mappings = this.mappings(authenticator.claimMappings, at.child('claimMappings'))
    const userRules = this.userRules(authenticator.userValidationRules, at.child('userValidationRules'))
    return { ...mappings, claimRules, userRules }
  }

  private compiled(text: string, use: ExpressionUse, at: FieldPath): Expression | undefined {
    const made = this.compile(text, use)
    if (!('problem' in made)) return made
    this.errors.push(made.isInternal ? internalFieldError(at, made.problem) : invalidValue(at, text, made.problem))
    return undefined
  }

  private claimRules(rules: JwtAuthenticator['claimValidationRules'], root: FieldPath): Rule[] {
    const made: Rule[] = []
    const [claims, expressions] = [new Set<string>(), new Set<string>()]
    for (const [index, { claim, requiredValue, expression, message }] of rules.entries()) {
      const at = root.index(index)
      if (claim !== '' && expression !== '')
        this.errors.push(invalidValue(at, claim, "claim and expression can't both be set"))
      else if (claim === '' && expression === '') this.errors.push(required(at, 'claim or expression is required'))
      else if (claim !== '') {
        if (message !== '')
          this.errors.push(invalidValue(at.child('message'), message, 'may not be specified when claim is set'))
        if (claims.has(claim)) this.errors.push(duplicate(at.child('claim'), claim))
        claims.add(claim)
      } else {
        if (requiredValue !== '')
          this.errors.push(
            invalidValue(at.child('requiredValue'), requiredValue, 'may not be specified when expression is set'),
          )
        if (expressions.has(expression)) {
          this.errors.push(duplicate(at.child('expression'), expression))
          continue
        }
        expressions.add(expression)
        const compiled = this.compiled(expression, 'claims to a bool', at.child('expression'))
        if (compiled === undefined) continue
        this.expressions.push(compiled)
        made.push({ expression: compiled, message })
      }
    }
    return made
  }

  private mappings(
    { username, groups, uid, extra }: JwtAuthenticator['claimMappings'],
    at: FieldPath,
  ): Pick<Mapper, 'username' | 'groups' | 'uid' | 'extra'> {
    const name = this.prefixed(username, at.child('username'), true)
    if (name !== undefined) this.expressions.push(name)
    const members = this.prefixed(groups, at.child('groups'), false)
    let id: Expression | undefined
    if (uid.claim !== '' && uid.expression !== '')
      this.errors.push(invalidValue(at.child('uid'), '', "claim and expression can't both be set"))
    else if (uid.expression !== '')
      id = this.compiled(uid.expression, 'claims to a value', at.child('uid', 'expression'))
    const extras = this.extra(extra, at.child('extra'))
    if (name?.selects('claims', 'email') && !this.expressions.some((one) => one.selects('claims', 'email_verified')))
      this.errors.push(
        invalidValue(
          at.child('username', 'expression'),
          username.expression,
          'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
        ),
      )
    return {
      ...(name && { username: name }),
      ...(members && { groups: members }),
      ...(id && { uid: id }),
      extra: extras,
    }
  }

  private prefixed(
    { claim, prefix = null, expression }: PrefixedClaimOrExpression,
    at: FieldPath,
    isRequired: boolean,
  ): Expression | undefined {
    if (claim !== '' && expression !== '') {
      this.errors.push(invalidValue(at, '', "claim and expression can't both be set"))
    } else if (expression !== '') {
      if (prefix !== null)
        this.errors.push(invalidValue(at.child('prefix'), prefix, 'may not be specified when expression is set'))
      return this.compiled(expression, 'claims to a value', at.child('expression'))
    } else if (claim !== '') {
      if (prefix === null)
        this.errors.push(
          required(
            at.child('prefix'),
            'prefix is required when claim is set. It can be set to an empty string to disable prefixing',
          ),
        )
    } else if (isRequired) this.errors.push(required(at, 'claim or expression is required'))
    return undefined
  }

  private extra(mappings: JwtAuthenticator['claimMappings']['extra'], root: FieldPath): Mapper['extra'] {
    const made: { key: string; expression: Expression }[] = []
    const keys = new Set<string>()
    for (const [index, { key, valueExpression }] of mappings.entries()) {
      const at = root.index(index)
      append(this.errors, extraKeyErrors(key, at.child('key')))
      if (keys.has(key)) {
        this.errors.push(duplicate(at.child('key'), key))
        continue
      }
      keys.add(key)
      if (valueExpression === '') {
        this.errors.push(required(at.child('valueExpression')))
        continue
      }
      const compiled = this.compiled(valueExpression, 'claims to a value', at.child('valueExpression'))
      if (compiled === undefined) continue
      this.expressions.push(compiled)
      made.push({ key, expression: compiled })
    }
    return made
  }

  private userRules(rules: JwtAuthenticator['userValidationRules'], root: FieldPath): Rule[] {
    const made: Rule[] = []
    const seen = new Set<string>()
    for (const [index, { expression, message }] of rules.entries()) {
      const at = root.index(index).child('expression')
      if (expression === '') this.errors.push(required(at))
      else if (seen.has(expression)) this.errors.push(duplicate(at, expression))
      else {
        seen.add(expression)
        const compiled = this.compiled(expression, 'user to a bool', at)
        if (compiled !== undefined) made.push({ expression: compiled, message })
      }
    }
    return made
  }
}

function extraKeyErrors(key: string, at: FieldPath): FieldError[] {
  const errors = validateDomainPath(at, key)
  const domain = key.slice(0, Math.max(0, key.indexOf('/')))
  if (key !== key.toLowerCase()) errors.push(invalidValue(at, key, 'must be lowercase'))
  if (/^(?:.*\.)?(?:kubernetes|k8s)\.io$/.test(domain))
    errors.push(invalidValue(at, key, 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'))
  return errors
}
