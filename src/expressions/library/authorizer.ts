/** kube-apiserver's `authorizer`, with which an expression checks what a user may do. */
import type { UserInfo } from '../../request/user-info.ts'
import type { FunctionDeclaration, Library } from '../../cel/declarations.ts'
import { exactly, plus, reading, scaled } from '../../cel/estimate.ts'
import type { Costs } from '../../cel/library/costs.ts'
import { fixed } from '../../cel/library/costs.ts'
import { fn, member } from '../../cel/library/declare.ts'
import { sizeOf } from '../../cel/values/runtime-size.ts'
import type { Type } from '../../cel/checker/type.ts'
import { BOOL, STRING, structNamed } from '../../cel/checker/type.ts'
import type { Value } from '../../cel/values/value.ts'
import { CelError, OpaqueValue } from '../../cel/values/value.ts'
import { dns1123Label, subdomainName } from '../../validation/names.ts'

/** The attributes of an authorization check. The resource fields are empty if the check is about a path. */
export interface Check {
  /** Undefined: the check is about the user of the request. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined
  readonly verb: string
  readonly path: string
  readonly resource: ResourceFields | undefined
}

export interface ResourceFields {
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly fieldSelector: string
  readonly labelSelector: string
}

export interface Decision {
  readonly allowed: boolean
  readonly reason: string
  readonly error?: string
}

/** Decides synchronously. Decisions that must wait are made before the evaluation (authorizing.ts). */
export type Authorize = (user: UserInfo, check: Check) => Decision

const named = (name: string): Type => structNamed(`kubernetes.authorization.${name}`)
export const AUTHORIZER = named('Authorizer')
export const RESOURCE_CHECK = named('ResourceCheck')
const PATH_CHECK = named('PathCheck')
const GROUP_CHECK = named('GroupCheck')
const DECISION = named('Decision')

/** A value of the authorizer library. It has nothing to compare, so it is equal only to itself. */
abstract class Asking extends OpaqueValue {
  equals(other: OpaqueValue): boolean {
    return this === other
  }

  override get isComparable(): boolean {
    return false
  }
}

export class AuthorizerValue extends Asking {
  readonly type = AUTHORIZER
  constructor(
    readonly user: UserInfo,
    readonly authorize: Authorize,
    readonly serviceAccount?: Check['serviceAccount'],
  ) {
    super()
  }

  decide(check: Pick<Check, 'verb' | 'path' | 'resource'>): DecisionValue {
    return new DecisionValue(this.authorize(this.user, { ...check, serviceAccount: this.serviceAccount }))
  }
}

class PathCheck extends Asking {
  readonly type = PATH_CHECK
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly path: string,
  ) {
    super()
  }
}

class GroupCheck extends Asking {
  readonly type = GROUP_CHECK
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly group: string,
  ) {
    super()
  }
}

export class ResourceCheck extends Asking {
  readonly type = RESOURCE_CHECK
  constructor(
    readonly authorizer: AuthorizerValue,
    readonly fields: ResourceFields,
  ) {
    super()
  }
}

class DecisionValue extends Asking {
  readonly type = DECISION
  constructor(readonly decision: Decision) {
    super()
  }
}

const empty = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' }

/** The value of `authorizer.requestResource`: a check of the request's resource. */
export const resourceCheck = (
  authorizer: AuthorizerValue,
  fields: Pick<ResourceFields, 'group' | 'resource'> & Partial<ResourceFields>,
): Value => new ResourceCheck(authorizer, { ...empty, ...fields })

const isBlank = (text: string): boolean => text.trim() === ''

/** The cost of one check. The cost limit allows two checks in an expression. */
const CHECK = fixed(350_000)
const STEP = fixed(1)

/** The cost of parsing a selector into a list of requirements. Each requirement has at least two characters. */
const selecting: Costs = {
  cost: ([, selector]) => costOfSelector(sizeOf(selector!)),
  estimate: ([, selector], sizes) => {
    const size = sizes.sizeOf(selector!)
    return { cost: plus(exactly(10), reading(size), scaled(scaled(size, 0.5), 50)) }
  },
}
const costOfSelector = (size: number): number => 10 + Math.ceil(size * 0.1) + Math.ceil(Math.ceil(size * 0.5) * 50)

// the types of arguments are checked before an overload runs
const text = (value: Value | undefined): string => value as string
const builder = (
  name: string,
  id: string,
  from: Type,
  to: Type,
  run: (from: Value, value: string) => Value,
  costs = STEP,
): FunctionDeclaration =>
  fn(name, member(id, [from, STRING], to, { ...costs, run: ([target, value]) => run(target!, text(value)) }))

const narrowing = (name: keyof ResourceFields, id: string, costs = STEP): FunctionDeclaration =>
  builder(
    name,
    id,
    RESOURCE_CHECK,
    RESOURCE_CHECK,
    (target, value) => {
      const { authorizer, fields } = target as ResourceCheck
      return new ResourceCheck(authorizer, { ...fields, [name]: value })
    },
    costs,
  )

const answer = (name: string, type: Type, run: (decision: Decision) => Value): FunctionDeclaration =>
  fn(
    name,
    member(`decision_${name}`, [DECISION], type, {
      ...STEP,
      run: ([decision]) => run((decision as DecisionValue).decision),
    }),
  )

function serviceAccount(authorizer: AuthorizerValue, namespace: string, name: string): Value {
  if (subdomainName(name, false).length > 0) return new CelError('Invalid service account name')
  if (dns1123Label(namespace).length > 0) return new CelError('Invalid service account namespace')
  return new AuthorizerValue(authorizer.user, authorizer.authorize, { namespace, name })
}

export const authorizer: Library = {
  name: 'kubernetes.authz',
  functions: [
    builder('path', 'authorizer_path', AUTHORIZER, PATH_CHECK, (target, path) =>
      isBlank(path) ? new CelError('path must not be empty') : new PathCheck(target as AuthorizerValue, path),
    ),
    builder(
      'group',
      'authorizer_group',
      AUTHORIZER,
      GROUP_CHECK,
      (target, group) => new GroupCheck(target as AuthorizerValue, group),
    ),
    fn(
      'serviceAccount',
      member('authorizer_serviceaccount', [AUTHORIZER, STRING, STRING], AUTHORIZER, {
        ...STEP,
        run: ([target, namespace, name]) => serviceAccount(target as AuthorizerValue, text(namespace), text(name)),
      }),
    ),
    builder('resource', 'groupcheck_resource', GROUP_CHECK, RESOURCE_CHECK, (target, resource) => {
      const { authorizer: asked, group } = target as GroupCheck
      if (isBlank(resource)) return new CelError('resource must not be empty')
      return resourceCheck(asked, { group, resource })
    }),
    narrowing('subresource', 'resourcecheck_subresource'),
    narrowing('namespace', 'resourcecheck_namespace'),
    narrowing('name', 'resourcecheck_name'),
    narrowing('fieldSelector', 'authorizer_fieldselector', selecting),
    narrowing('labelSelector', 'authorizer_labelselector', selecting),
    {
      ...fn(
        'check',
        member('pathcheck_check', [PATH_CHECK, STRING], DECISION, {
          ...CHECK,
          run: ([target, verb]) => {
            const { authorizer: asked, path } = target as PathCheck
            return asked.decide({ verb: text(verb), path, resource: undefined })
          },
        }),
        member('resourcecheck_check', [RESOURCE_CHECK, STRING], DECISION, {
          ...CHECK,
          run: ([target, verb]) => {
            const { authorizer: asked, fields } = target as ResourceCheck
            return asked.decide({ verb: text(verb), path: '', resource: fields })
          },
        }),
      ),
      cost: CHECK.cost,
    },
    answer('errored', BOOL, ({ error }) => error !== undefined),
    answer('error', STRING, ({ error }) => error ?? ''),
    answer('allowed', BOOL, ({ allowed }) => allowed),
    answer('reason', STRING, ({ reason }) => reason),
  ],
}
