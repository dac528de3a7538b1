import { notFound } from '../../api/status.ts'
import { negotiateOutput } from '../../codec/negotiation/negotiate.ts'
import { isPassedOn, respondObject, weightOfAnswer } from '../../codec/respond.ts'
import { LARGE } from '../../base/slices.ts'
import { walked } from '../../request/turns.ts'
import { checkGetOptions } from '../../request/options.ts'
import { liveOf } from '../../codec/stored-object.ts'
import { StorageError } from '../../storage/errors.ts'
import { checkNameParameter } from '../../registry/key-name.ts'
import type { RequestScope } from '../../registry/resource-scope.ts'
import { takeFirstRead } from '../../registry/first-read.ts'
import { keyOf } from '../../registry/resource-scope.ts'
import { forAnswer } from '../../registry/converted.ts'
import { parseRevisionOfGet } from './resource-version.ts'
import { statusFor } from '../../storage/storage-status.ts'

export async function get(scope: RequestScope): Promise<Response> {
  const { request } = scope
  const output = negotiateOutput(request, { kind: 'object', forms: scope.resource.forms })
  checkGetOptions(request.query)
  checkNameParameter(scope.place.name)
  const notOlderThan = parseRevisionOfGet(scope, request.query.get('resourceVersion') ?? '')
  try {
    const key = keyOf(scope, scope.place.name)
    const early = notOlderThan === undefined ? await takeFirstRead(request, scope.collection, key) : undefined
    const stored = early ?? (await scope.storage.get(scope.collection, key, notOlderThan))
    if (stored === undefined) throw notFound(scope.resource.gvr, scope.place.name)
    if (!isPassedOn(scope.resource, output) && weightOfAnswer(scope.resource, output, stored.text.length) > LARGE) {
      request.isLarge = true
      await request.takeRoom?.('object', stored.text.length)
    }
    const answered = await forAnswer(scope, stored)
    if (scope.resource.view !== undefined)
      scope.resource.view.checkRead?.('text' in answered ? liveOf(answered).object : answered)
    return await walked(request, () => respondObject(scope, output, 200, answered))
  } catch (error) {
    throw error instanceof StorageError ? statusFor(error, scope.resource.gvr, scope.place.name) : error
  }
}
