/** MutatingAdmissionPolicy: the policies bound to a request change its object, one after the other. */
import { append } from '../../base/append.ts'
import { StatusError, internalError } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import { measurePolicyCheck } from '../../metrics/measurements.ts'
import { settingsOf } from '../../settings.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'
import { Reinvocation } from '../reinvocation.ts'
import { Rounds } from '../rounds.ts'
import { replaceObject, typeOfMatched } from '../made-object.ts'
import type { BoundPolicy, Policies } from './configured-policies.ts'
import { policiesAbout } from './configured-policies.ts'
import { checkTime, checkTimeLeft } from '../time-left.ts'
import { isExempt } from '../exempt.ts'
import type { Invocation } from './invocations.ts'
import { conditionsOwner, configurationProblem, invocationsOf } from './invocations.ts'
import type { Param } from './params.ts'
import { PolicyRequest } from './policy-request.ts'
import { requestValue } from './request-value.ts'
import { seenBy } from './versioned-object.ts'

export const mutatingAdmissionPolicy: AdmissionPlugin = {
  name: 'MutatingAdmissionPolicy',
  handles: ({ operation, resource }) => operation !== 'DELETE' && !isExempt(resource, 'policies'),
  async admit(attributes) {
    if (!settingsOf(attributes.request.env).gates.enabled('MutatingAdmissionPolicy')) return
    const policies = policiesAbout(await controlSnapshot(attributes.request), 'mutating', attributes.resource.resource)
    if (policies.length > 0) await mutateBy(policies, attributes)
  },
}

interface Problem {
  readonly policy: Policies['mutating']['policy']
  readonly binding?: Policies['mutating']['binding'] | undefined
  readonly message: string
  readonly reason?: string
}

/** The function is also the key under which its result is kept. */
const newRounds = (): Rounds => new Rounds()

type Usable = Invocation<'mutating'> & { readonly problem?: undefined }
type Mutate = (usable: Usable, param: Param) => Promise<readonly string[]>

async function mutateBy(policies: readonly BoundPolicy<'mutating'>[], attributes: Attributes): Promise<void> {
  const request = new PolicyRequest(attributes)
  const invocations = await invocationsOf(policies, request)
  const problems: Problem[] = []
  for (const { policy, binding, problem } of invocations)
    if (problem !== undefined) problems.push({ policy, binding, message: problem })
  const usable = invocations.filter((invocation): invocation is Usable => invocation.problem === undefined)
  if (usable.some(({ params }) => params.length > 0)) append(problems, await mutateInOrder(usable, request))
  const denying = problems.filter(({ policy }) => policy.spec?.failurePolicy !== 'Ignore')
  if (denying.length > 0) throw denied(attributes, denying)
  if (problems.length > 0) checkTimeLeft(attributes)
}

async function mutateInOrder(invocations: readonly Usable[], request: PolicyRequest): Promise<Problem[]> {
  const { attributes } = request
  const rounds = (attributes.reinvocation ?? new Reinvocation()).keep(newRounds)
  await rounds.begin(attributes)
  const mutate = await mutator(request, rounds)
  const problems: Problem[] = []
  for (const invocation of invocations)
    for (const param of invocation.params) {
      checkTime(attributes)
      for (const message of await mutate(invocation, param))
        problems.push({ policy: invocation.policy, binding: invocation.binding, message, reason: 'Invalid' })
    }
  await rounds.end(attributes)
  return problems
}

/** @returns a function that applies a policy to the request's object and returns the errors */
async function mutator(request: PolicyRequest, rounds: Rounds): Promise<Mutate> {
  const { attributes } = request
  const { tenant } = attributes.request
  const engine = await import('./policy-engine.ts')
  const authorizer = engine.authorizerOf(attributes, new engine.Decisions(attributes.request))
  const namespaceObject = await request.namespaceObject()
  return async ({ policy, binding, matched }, param) => {
    const entry = await request.entryOf(matched)
    const objects = await request.versioned(matched).catch((error: unknown) => configurationProblem(error))
    if (typeof objects === 'string') return [`failed to configure policy: ${objects}`]
    const compiled = await engine.compiledPolicy(tenant, 'mutating', policy)
    const { object: sent, oldObject } = objects
    const subject = {
      object: sent && (await seenBy(attributes.request, sent)),
      oldObject: oldObject && (await seenBy(attributes.request, oldObject)),
      authorizer,
      params: param,
      namespaceObject,
      request: requestValue(attributes, matched),
      requestOfConditions: requestValue(attributes, { ...matched, resource: attributes.resource }),
    }
    const matches = await engine.conditionsMatch(
      compiled.matchConditions,
      compiled.variables,
      subject,
      policy.spec?.failurePolicy,
      conditionsOwner(attributes, policy),
    )
    if (matches === false) return []
    if (matches !== true) return [matches.error]
    const key = JSON.stringify([
      policy.metadata.name,
      binding.metadata.name,
      param?.metadata.namespace,
      param?.metadata.name,
    ])
    if (!rounds.isTurnOf(key)) return []
    const names = { policy: policy.metadata.name ?? '', binding: binding.metadata.name ?? '' }
    const { clock } = attributes.request
    let began = clock()
    const measured = (problem: string | undefined) => {
      measurePolicyCheck(attributes.request, 'mutating', { ...names, problem, seconds: (clock() - began) / 1000 })
      began = clock()
    }
    const problems: string[] = []
    let object = sent
    const type = typeOfMatched(attributes, matched, entry)
    for (const mutation of object === undefined ? [] : compiled.mutations)
      try {
        object = await engine.mutated(attributes.request, mutation, compiled, subject, object!, type)
        rounds.mutated()
        measured(undefined)
      } catch (error) {
        if (!(error instanceof engine.MutationProblem)) throw error
        measured(error.message)
        problems.push(error.message)
      }
    if (object !== undefined && (await replaceObject(attributes, entry, object).catch(unconverted))) rounds.changed()
    if (policy.spec?.reinvocationPolicy === 'IfNeeded') rounds.mayReturn(key)
    return problems
  }
}

/** The object that the policy made has no form in the request's version. */
function unconverted(error: unknown): never {
  throw error instanceof StatusError ? internalError(`failed to convert object: ${error.message}`) : error
}

function textOf({ policy, binding, message }: Problem): string {
  const { name = '' } = policy.metadata
  return binding === undefined
    ? `policy ${goQuote(name)} denied request: ${message}`
    : `policy '${name}' with binding '${binding.metadata.name}' denied request: ${message}`
}

function denied(attributes: Attributes, problems: readonly Problem[]): StatusError {
  const { code, status } = admissionForbidden(attributes, '')
  const causes = problems.map((problem) => ({ message: textOf(problem) }))
  const [first] = problems
  return new StatusError(code, first?.reason ?? status.reason, textOf(first!), { ...status.details, causes })
}
