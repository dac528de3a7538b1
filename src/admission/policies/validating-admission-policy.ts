/** ValidatingAdmissionPolicy: evaluates the policies that are bound to a request. */
import { append } from '../../base/append.ts'
import { apiVersionOf } from '../../api/group-version.ts'
import { ownValue } from '../../base/own.ts'
import { StatusError } from '../../api/status.ts'
import { stringify } from '../../json/write-json.ts'
import { measurePolicyCheck } from '../../metrics/measurements.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import type { ResourceKind } from '../equivalent-resources.ts'
import { admissionForbidden } from '../forbidden.ts'
import type { BoundPolicy, Policies } from './configured-policies.ts'
import { policiesAbout } from './configured-policies.ts'
import { isExempt } from '../exempt.ts'
import { checkTime, checkTimeLeft } from '../time-left.ts'
import type { Invocation } from './invocations.ts'
import { conditionsOwner, configurationProblem, invocationsOf } from './invocations.ts'
import { once, PolicyRequest } from './policy-request.ts'
import { requestValue } from './request-value.ts'
import type { Verdict } from './validate-by-policy.ts'

export const validatingAdmissionPolicy: AdmissionPlugin = {
  name: 'ValidatingAdmissionPolicy',
  handles: (attributes) => !isExempt(attributes.resource, 'policies'),
  async validate(attributes) {
    const policies = policiesAbout(
      await controlSnapshot(attributes.request),
      'validating',
      attributes.resource.resource,
    )
    if (policies.length > 0) await validateBy(policies, attributes)
  },
}

type Policy = Policies['validating']['policy']
type Binding = Policies['validating']['binding']

interface Denial {
  readonly policy: Policy
  readonly binding: Binding | undefined
  readonly message: string
  readonly reason?: string | undefined
}

/** Evaluates all policies, because each may add warnings and audit annotations. The client gets the first denial. */
async function validateBy(policies: readonly BoundPolicy<'validating'>[], attributes: Attributes): Promise<void> {
  const request = new PolicyRequest(attributes)
  const invocations = await invocationsOf(policies, request)
  if (invocations.length === 0) return
  const denials: Denial[] = []
  const audit = new AuditAnnotations()
  const evaluate = await evaluator(request)
  for (const invocation of invocations) {
    const { policy, binding } = invocation
    const isIgnored = policy.spec?.failurePolicy === 'Ignore'
    const { clock } = attributes.request
    const began = clock()
    const verdicts = invocation.problem === undefined ? await evaluate(invocation) : invocation.problem
    const seconds = (clock() - began) / 1000
    if (typeof verdicts === 'string') {
      if (isIgnored) checkTimeLeft(attributes)
      else denials.push({ policy, binding, message: verdicts })
      continue
    }
    for (const verdict of verdicts)
      append(denials, actOn(attributes, { policy, binding: binding!, seconds }, verdict, audit))
  }
  audit.publish(attributes)
  const [first] = denials
  if (first !== undefined) throw denied(attributes, first)
}

type Usable = Invocation<'validating'> & { readonly problem?: undefined }

/** @returns a function that evaluates a policy with each of its parameters */
async function evaluator(request: PolicyRequest): Promise<(usable: Usable) => Promise<readonly Verdict[] | string>> {
  const { attributes } = request
  const engine = await import('./policy-engine.ts')
  const decisions = new engine.Decisions(attributes.request)
  const authorizer = engine.authorizerOf(attributes, decisions)
  const seenIn = async (matched: ResourceKind) => {
    const objects = await request.seen(matched).catch((error: unknown) => configurationProblem(error))
    if (typeof objects === 'string') return objects
    const asked = requestValue(attributes, matched)
    const isOwn =
      matched.resource.group === attributes.resource.group && matched.resource.version === attributes.resource.version
    return {
      ...objects,
      authorizer,
      namespaceObject: await request.namespaceObject(),
      request: asked,
      requestOfConditions: isOwn ? asked : requestValue(attributes, { ...matched, resource: attributes.resource }),
    }
  }
  /** By version: most policies see the request in the same version. */
  const seenBefore = new Map<string, ReturnType<typeof seenIn>>()
  return async ({ policy, params, matched }) => {
    if (params.length === 0) return []
    const compiled = await engine.compiledPolicy(attributes.request.tenant, 'validating', policy)
    const seen = await once(seenBefore, apiVersionOf(matched.resource), () => seenIn(matched))
    if (typeof seen === 'string') return `failed to configure binding: failed to convert object version: ${seen}`
    const verdicts: Verdict[] = []
    const owner = conditionsOwner(attributes, policy)
    for (const param of params) {
      checkTime(attributes)
      verdicts.push(await engine.validateByPolicy(policy.spec ?? {}, compiled, { ...seen, params: param }, owner))
    }
    return verdicts
  }
}

/**
 * Applies the binding's validationActions to the policy's failures.
 * @returns the denials
 */
function actOn(
  { request }: Attributes,
  { policy, binding, seconds }: { policy: Policy; binding: Binding; seconds: number },
  { decisions, auditAnnotations }: Verdict,
  audit: AuditAnnotations,
): Denial[] {
  const denials: Denial[] = []
  const { validationActions = [] } = binding.spec ?? {}
  const names = { policy: policy.metadata.name ?? '', binding: binding.metadata.name ?? '' }
  const measured = (action: 'allow' | 'deny' | 'audit' | 'warn', problem: string) =>
    measurePolicyCheck(request, 'validating', { ...names, problem, seconds }, action)
  for (const [index, decision] of decisions.entries()) {
    if (decision.action === 'admit') {
      if (decision.ignored !== undefined) measured('allow', decision.ignored)
      continue
    }
    for (const action of validationActions) {
      const counted = ownValue(countedActions, action)
      if (counted !== undefined) measured(counted, decision.message)
      if (action === 'Deny') denials.push({ policy, binding, ...decision })
      if (action === 'Warn')
        request.warnings.push(
          `Validation failed for ValidatingAdmissionPolicy '${policy.metadata.name}' with binding '${binding.metadata.name}': ${decision.message}`,
        )
      if (action === 'Audit') request.record?.annotate(FAILURE, failureText(binding, index, decision.message))
    }
  }
  for (const annotation of auditAnnotations)
    if (annotation.error === undefined) audit.add(policy, annotation.key, annotation.value)
    else {
      measured('deny', annotation.error)
      denials.push({ policy, binding, message: annotation.error })
    }
  return denials
}

const countedActions = { Deny: 'deny', Audit: 'audit', Warn: 'warn' } as const

const FAILURE = 'validation.policy.admission.k8s.io/validation_failure'

function failureText({ metadata, spec = {} }: Binding, expressionIndex: number, message: string): string {
  const { policyName = '', validationActions = [] } = spec
  return stringify([{ message, policy: policyName, binding: metadata.name ?? '', expressionIndex, validationActions }])
}

/** Bytes. */
const MAX_ANNOTATION = 10 * 1024

/** The annotations of all bindings of a policy. An annotation lists the different values of its key. */
class AuditAnnotations {
  private readonly values = new Map<string, Set<string>>()

  add(policy: Policy, key: string, value: string): void {
    const name = `${policy.metadata.name}/${key}`
    const known = this.values.get(name)
    const short = firstBytes(value)
    if (known === undefined) this.values.set(name, new Set([short]))
    else known.add(short)
  }

  publish({ request }: Attributes): void {
    for (const [name, values] of this.values) request.record?.annotate(name, [...values].join(', '))
  }
}

const firstBytes = (text: string): string => {
  const bytes = new TextEncoder().encode(text)
  return bytes.length <= MAX_ANNOTATION ? text : new TextDecoder().decode(bytes.subarray(0, MAX_ANNOTATION))
}

const codes: Readonly<Record<string, number>> = { Forbidden: 403, Unauthorized: 401, RequestEntityTooLarge: 413 }

function denied(attributes: Attributes, { policy, binding, message, reason = 'Invalid' }: Denial): StatusError {
  const bound = binding === undefined ? '' : ` with binding '${binding.metadata.name}'`
  const why = `ValidatingAdmissionPolicy '${policy.metadata.name}'${bound} denied request: ${message}`
  const { status } = admissionForbidden(attributes, why)
  const code = ownValue(codes, reason) ?? 422
  return new StatusError(code, reason, status.message ?? '', { ...status.details, causes: [{ message: why }] })
}
