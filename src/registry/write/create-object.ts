/** Creates an object: generates its name, reserves its resources, and inserts it. */
import type { KubeObject } from '../../api/object.ts'
import type { ObjectMeta } from '../../api/meta/v1.ts'
import { StatusError, alreadyExists, generatedNameExists, plainError } from '../../api/status.ts'
import type { WriteResult } from '../../codec/stored-object.ts'
import { generatedName } from '../generated-name.ts'
import { keyOf } from '../resource-scope.ts'
import { asReadBack } from '../converted.ts'
import type { ResourceScope } from '../resource-scope.ts'
import { readLive } from '../store.ts'
import type { FinalObject } from '../stored-form.ts'
import { admitted, allocating } from './allocate.ts'
import type { WriteMode } from './allocate.ts'
import { commitCreate } from './commit.ts'
import { beforeCreate } from './prepare.ts'
import { walked } from '../../request/turns.ts'
import { copyWithEmptied } from '../../schema/emptied.ts'
import { timeText } from '../../schema/time.ts'
import { StorageError } from '../../storage/errors.ts'
import { statusFor } from '../../storage/storage-status.ts'

const GENERATE_NAME_TRIES = 8

/** @returns the stored object with its resourceVersion (without one on a dry run) */
export async function createObject(scope: ResourceScope, wanted: KubeObject, mode: WriteMode): Promise<WriteResult> {
  fillSystemFields(scope, wanted)
  const generates = !wanted.metadata.name && !!wanted.metadata.generateName
  for (let attempt = 1; ; attempt++) {
    const object = generates ? await walked(scope.request, () => copyWithEmptied(wanted)) : wanted
    if (generates) object.metadata.name = nameFor(scope, wanted.metadata.generateName!)
    try {
      return await allocating(scope, object, undefined, mode, async () => {
        await beforeCreate(scope, object, mode)
        return admitted(scope, mode, object, undefined, (final) => insert(scope, object, mode, final))
      })
    } catch (error) {
      if (!(error instanceof StorageError)) throw error
      if (error.code !== 'KeyExists') throw statusFor(error, scope.resource.gvr, object.metadata.name ?? '')
      if (generates && attempt < GENERATE_NAME_TRIES) continue
      throw await existsError(scope, object.metadata)
    }
  }
}

const nameFor = ({ resource: { strategy } }: ResourceScope, prefix: string): string =>
  strategy.generatesNames === false ? prefix : generatedName(prefix)

export async function insert(
  scope: ResourceScope,
  object: KubeObject,
  { options }: WriteMode,
  final: FinalObject | undefined,
): Promise<WriteResult> {
  const key = keyOf(scope, object.metadata.name!)
  if (options.dryRun) {
    if ((await scope.storage.get(scope.collection, key)) !== undefined) throw new StorageError('KeyExists')
    return { object: await asReadBack(scope, object) }
  }
  // "0" and text that is no number count as no version
  if (/^0*[1-9]\d*$/.test(object.metadata.resourceVersion ?? ''))
    throw plainError('resourceVersion should not be set on objects to be created')
  return commitCreate(scope, object, final)
}

async function existsError(scope: ResourceScope, metadata: ObjectMeta): Promise<StatusError> {
  const { name = '', generateName = '' } = metadata
  const error = (generateName === '' ? alreadyExists : generatedNameExists)(scope.resource.gvr, name)
  const live = await readLive(scope, name)
  if (live?.object.metadata.deletionTimestamp === undefined) return error
  return new StatusError(409, 'AlreadyExists', `object is being deleted: ${error.message}`, error.status.details)
}

export function fillSystemFields({ request }: ResourceScope, { metadata }: KubeObject): void {
  metadata.creationTimestamp = timeText(request.now)
  metadata.uid = crypto.randomUUID()
}
