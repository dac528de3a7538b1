/**
 * Restores deleted flow schemas and priority levels of a fresh control plane. Restores a changed spec too: always for
 * mandatory objects, for suggested ones while their annotation allows it. Deletes other objects that have the
 * annotation.
 */
import type { KubeObject } from '../../api/object.ts'
import type { BootstrapObject } from '../../bootstrap/bootstrap-object.ts'
import { policyObjects } from '../../bootstrap/policy-objects.ts'
import { EXEMPT, mandatoryFlowSchemas } from '../../registry/flowcontrol/mandatory-objects.ts'
import { settingsOf } from '../../settings.ts'
import { timeText } from '../../schema/time.ts'
import { sameValue } from '../../validation/same-value.ts'
import { serverClients } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { createUnlessThere, deleteIfThere, unlessGone } from '../work/unless-gone.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const MANAGER = 'api-priority-and-fairness-config-producer-v1'
const AUTOUPDATE = 'apf.kubernetes.io/autoupdate-spec'
export const flowDefaults: Controller = {
  neverGivesUp: true,
  async reconcile(_key, context) {
    const all = await policyObjects(timeText(context.now()), settingsOf(context.env).gates)
    await Promise.all(
      ['prioritylevelconfigurations', 'flowschemas'].map((resource) =>
        ensure(
          resource,
          all.filter((one) => one.resource === resource),
          context,
        ),
      ),
    )
    return undefined
  },
}

async function ensure(resource: string, wanted: readonly BootstrapObject[], context: ControllerContext): Promise<void> {
  const client = serverClients(context, MANAGER).resource({ group: GROUP, resource })
  const stored = new Map((await client.list()).map((object) => [object.metadata.name ?? '', object]))
  for (const { object } of wanted) {
    const name = object.metadata.name ?? ''
    const live = stored.get(name)
    stored.delete(name)
    if (live === undefined) await createUnlessThere(client, structuredClone(object))
    else if (revised(live, object) !== undefined)
      await client
        // own key: `revised` makes the members
        .updateWithRetries(live, (current) => void Object.assign(current, revised(current, object)))
        .catch((error: unknown) => unlessGone(client, live, error))
  }
  for (const object of stored.values())
    if (parseBool(object.metadata.annotations?.[AUTOUPDATE]) === true) await deleteIfThere(client, object)
}

type WithSpec = KubeObject & { spec?: object }

/** The members of `live` to change, with their new values; undefined: none. */
export function revised(live: WithSpec, wanted: WithSpec): Partial<WithSpec> | undefined {
  const { metadata } = live
  const asked = parseBool(metadata.annotations?.[AUTOUPDATE])
  // the mandatory objects of both kinds have the same names
  const updatesSpec = mandatoryFlowSchemas.has(metadata.name ?? '') || (asked ?? metadata.generation === 1)
  const spec = updatesSpec && !isSameSpec(live, wanted) ? { spec: structuredClone(wanted.spec ?? {}) } : {}
  const annotations = { ...metadata.annotations, [AUTOUPDATE]: String(updatesSpec) }
  const changes = { ...spec, ...(asked === updatesSpec ? {} : { metadata: { ...metadata, annotations } }) }
  return Object.keys(changes).length === 0 ? undefined : changes
}

function isSameSpec({ spec, kind = '', metadata }: WithSpec, wanted: WithSpec): boolean {
  const type = `io.k8s.api.flowcontrol.v1.${kind}Spec`
  // users may change the shares of the exempt level
  if (kind === 'PriorityLevelConfiguration' && metadata.name === EXEMPT) return spec !== undefined && 'exempt' in spec
  return sameValue(type, spec, wanted.spec)
}

/** A boolean that Go's strconv accepts; undefined for other texts. */
function parseBool(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined
  if (/^(1|t|T|true|TRUE|True)$/.test(text)) return true
  return /^(0|f|F|false|FALSE|False)$/.test(text) ? false : undefined
}
