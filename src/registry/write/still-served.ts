/**
 * A create may be held up, by its body, a webhook or a quota, until the definition of its resource is gone and all its
 * objects with it. Nobody would delete the new object then, and a later definition of that name would serve it.
 */
import { groupResourceText } from '../../api/group-version.ts'
import type { CustomResourceDefinition } from '../../api/apiextensions/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { notServed } from '../../api/status.ts'
import { isRecent } from '../../base/clock.ts'
import { controlSnapshot } from '../../tenancy/control-snapshot.ts'
import { UNCHECKED } from '../../tenancy/same-epoch.ts'
import { DEFINITIONS, isTerminating } from '../custom-resources/definition.ts'
import { terminating } from '../custom-resources/strategy.ts'
import type { ResourceScope } from '../resource-scope.ts'

/** @throws StatusError 403, 404 */
export function checkStillServed(scope: ResourceScope, name: string): void | Promise<void> {
  const { request, resource } = scope
  if (resource.definitionUid === undefined || isRecent(request.now.getTime(), request.clock(), UNCHECKED)) return
  return lookAgain(scope, name)
}

async function lookAgain({ request, resource: { gvr, definitionUid } }: ResourceScope, name: string): Promise<void> {
  const snapshot = await controlSnapshot(request)
  const definition = snapshot.get<KubeObject & CustomResourceDefinition>(DEFINITIONS, groupResourceText(gvr))
  if (definition === undefined || definition.metadata.uid !== definitionUid) throw notServed()
  if (isTerminating(definition)) throw terminating(gvr, name)
}
