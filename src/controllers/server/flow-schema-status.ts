import type { FlowSchema } from '../../api/flowcontrol/v1.ts'
import { goQuote } from '../../go/quote.ts'
import type { KubeObject } from '../../api/object.ts'
import { timeText } from '../../schema/time.ts'
import { serverClients } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import { unlessGone } from '../work/unless-gone.ts'

const GROUP = 'flowcontrol.apiserver.k8s.io'
const MANAGER = 'api-priority-and-fairness-config-consumer-v1'
const DANGLING = 'Dangling'

type StoredSchema = FlowSchema & KubeObject

/** Sets the condition Dangling of all FlowSchemas: whether their priority level is missing. The key is empty. */
export const flowSchemaStatus: Controller = {
  neverGivesUp: true,
  async reconcile(_key, context) {
    const client = serverClients(context).resource({ group: GROUP, resource: 'flowschemas' })
    const levelClient = serverClients(context).resource({ group: GROUP, resource: 'prioritylevelconfigurations' })
    const [schemas, levels] = await Promise.all([client.list() as Promise<StoredSchema[]>, levelClient.list()])
    const names = new Set(levels.map(({ metadata }) => metadata.name))
    for (const schema of schemas) {
      const { apiVersion, kind, spec, status } = schema
      const level = spec?.priorityLevelConfiguration?.name ?? ''
      const finding = findingOf(level, names.has(level))
      const known = status?.conditions?.find(({ type }) => type === DANGLING)
      if (known?.status === finding.status && known.reason === finding.reason && known.message === finding.message)
        continue
      const condition = { type: DANGLING, lastTransitionTime: timeText(context.now()), ...finding }
      const config = { apiVersion, kind, status: { conditions: [condition] } }
      await client
        .apply(schema, config, { fieldManager: MANAGER, subresource: 'status' })
        .catch((error: unknown) => unlessGone(client, schema, error))
    }
    return undefined
  },
}

function findingOf(level: string, found: boolean): { status: string; reason: string; message: string } {
  const message = `This FlowSchema references the PriorityLevelConfiguration object named ${goQuote(level)}`
  return found
    ? { status: 'False', reason: 'Found', message: `${message} and it exists` }
    : { status: 'True', reason: 'NotFound', message: `${message} but there is no such object` }
}
