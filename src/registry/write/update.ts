/** The steps that PUT and the patches share: make the wanted object from the live one, and again on conflict. */
import type { KubeObject } from '../../api/object.ts'
import { inParts } from '../../base/parts.ts'
import type { Steps } from '../../base/slices.ts'
import { checkLeastSize } from '../../codec/protobuf/least-size.ts'
import { copyWithEmptied } from '../../schema/emptied.ts'
import type { WriteOptions } from '../../request/options.ts'
import { finished, noteManyValues, walked } from '../../request/turns.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { guaranteedUpdate } from './guaranteed-update.ts'
import type { Updated } from './guaranteed-update.ts'
import { trackingFields } from '../track-fields.ts'
import type { Admission } from './admission.ts'
import { checkName } from './check-name.ts'
import { dropDuplicateOwners } from './owner-references.ts'
import { ensureNamespace } from './prepare.ts'
import { throughView } from './through-view.ts'

/** Checks the permission to create. It runs only if the object is absent. @throws 403 */
export type AuthorizeCreate = () => Promise<void>

/** Data and functions that a caller of `update` provides. */
export interface UpdateBy {
  readonly authorizeCreate?: AuthorizeCreate | undefined
  /** The stored form of the object as the caller just read it. */
  readonly known?: KubeObject | undefined
}

/**
 * @param sent the decoded object with defaults, in the version of the request
 * @throws StatusError
 */
export async function update(
  scope: ResourceScope,
  sent: KubeObject,
  options: WriteOptions,
  admission: Admission,
  { authorizeCreate, known }: UpdateBy = {},
): Promise<Updated> {
  checkName(scope.place, sent)
  await walked(scope.request, () => dropDuplicateOwners(sent, scope.request.warnings, 'as sent'))
  return updateWith(scope, options, admission, {
    mayCreate: createsOnUpdate(scope),
    uid: sent.metadata.uid,
    authorizeCreate,
    known,
    *wanted(live) {
      const object = scope.resource.afterConversion(yield* inParts(() => copyWithEmptied(sent)))
      // a write that admission does not refuse then ends with 409, and nobody sees its managers
      if (!isOvertaken(object, live)) yield* trackingFields(scope, live, object, options.fieldManager)
      return object
    },
  })
}

/** Whether a written object names another version than the stored one. A version in other digits may be the same. */
const isOvertaken = (
  { metadata: { resourceVersion: given = '' } }: KubeObject,
  live: KubeObject | undefined,
): boolean => live !== undefined && /^[1-9]\d*$/.test(given) && given !== live.metadata.resourceVersion

/** A write of the status creates the object, too (Services). */
export const createsOnUpdate = ({ place: { subresource }, resource: { strategy } }: ResourceScope): boolean =>
  ['', 'status'].includes(subresource) && strategy.allowCreateOnUpdate === true

export interface Wanted extends UpdateBy {
  readonly mayCreate: boolean
  readonly mayHaveUndeclared?: boolean
  /** The UID in the written object. */
  readonly uid?: string | undefined
  /** The object in the version of the request, with its managedFields. Runs again on conflict. */
  wanted(live: KubeObject | undefined): Steps<KubeObject>
}

export function updateWith(
  scope: ResourceScope,
  options: WriteOptions,
  admission: Admission,
  { mayCreate, mayHaveUndeclared, uid, authorizeCreate, known, wanted }: Wanted,
): Promise<Updated> {
  const {
    request,
    resource: { view },
  } = scope
  return guaranteedUpdate(scope, scope.place.name, {
    options,
    admission,
    mayCreate,
    mayHaveUndeclared,
    uid,
    authorizeCreate,
    known,
    async transform(stored) {
      // a converter has converted it when it was read
      const live =
        scope.resource.converter === undefined && stored !== undefined
          ? await walked(request, () => scope.resource.fromStorage(stored))
          : stored
      const operation = stored === undefined ? 'CREATE' : 'UPDATE'
      const admit = (object: KubeObject, oldObject: KubeObject | undefined) =>
        admission.mutate(scope, operation, options, { object, oldObject })
      // a view never creates: an absent object has caused 404 before
      if (view !== undefined)
        return scope.resource.toStorage(
          await throughView(scope, view, live!, (before) => finished(request, wanted(before)), admit),
        )
      const made = await finished(request, wanted(live))
      noteManyValues(request, made)
      if (request.isLarge) await walked(request, () => checkLeastSize(made))
      const object = await walked(request, () => scope.resource.toStorage(made))
      ensureNamespace(scope, object)
      await admit(object, stored)
      // the permission to create was for the name of the URL; an update of the name is refused by its validation
      if (stored === undefined && object.metadata.name) checkName(scope.place, object)
      await walked(request, () => dropDuplicateOwners(object, request.warnings, 'after admission'))
      return object
    },
  })
}
