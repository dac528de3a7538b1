/**
 * The answers of `authorizer` in expressions. Authorizers may read, and an evaluation cannot await: it ends with
 * `Undecided`, the decision is made, and the evaluation starts again. Each decision is made once in a request.
 */
import type { UserInfo } from '../../request/user-info.ts'
import { serviceAccountGroups, serviceAccountUser } from '../../authentication/service-account-name.ts'
import type { AuthorizationAttributes } from '../../authorization/attributes.ts'
import { pathAttributes, readableFields, resourceAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import type { Check, Decision } from '../../expressions/library/authorizer.ts'
import type { ControlPlane } from '../../tenancy/control-snapshot.ts'

export class Undecided extends Error {
  constructor(readonly decide: () => Promise<void>) {
    super('an authorizer is to be asked')
  }
}

export class Decisions {
  private readonly made = new Map<string, Decision>()

  constructor(private readonly plane: ControlPlane) {}

  /** @throws Undecided where the decision is not made yet */
  readonly authorize = (user: UserInfo, check: Check): Decision => {
    const { serviceAccount, ...what } = check
    const asking = serviceAccount === undefined ? user : accountUser(serviceAccount)
    const key = JSON.stringify([serviceAccount, what])
    const known = this.made.get(key)
    if (known !== undefined) return known
    throw new Undecided(async () => {
      this.made.set(key, await verdictOn(this.plane, attributesOf(asking, check)))
    })
  }
}

const accountUser = (account: NonNullable<Check['serviceAccount']>): UserInfo => ({
  name: serviceAccountUser(account),
  uid: '',
  groups: serviceAccountGroups(account.namespace),
  extra: {},
})

function attributesOf(user: UserInfo, { verb, path, resource }: Check): AuthorizationAttributes {
  if (resource === undefined) return pathAttributes(user, verb, path)
  const { group, fieldSelector, ...rest } = resource
  return resourceAttributes(user, verb, {
    ...rest,
    apiGroup: group,
    apiVersion: '*',
    fields: readableFields(fieldSelector),
  })
}
