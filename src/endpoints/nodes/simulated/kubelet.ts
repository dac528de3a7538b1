/**
 * The kubelet of a simulated node for clients: logs, exec, attach and port-forward. It makes its answers from the
 * pod's status and annotations. The first line of each answer says so. It has no state.
 */
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { ExchangeAnswer, Upgraded } from '../../../outgoing/exchange.ts'
import type { ApiRequest } from '../../../request/context.ts'
import { storedObject } from '../../../tenancy/stored-object.ts'
import type { NodeConnection, NodeRequest } from '../node-connection.ts'
import { attach, exec } from './exec.ts'
import { containerLogs } from './logs.ts'
import { answer } from './plain-answer.ts'

export interface Asked {
  readonly request: ApiRequest
  readonly call: NodeRequest
  readonly query: URLSearchParams
  readonly pod: KubeObject & Pod
  /** '' where the path has none. */
  readonly container: string
}

type Answerer = (asked: Asked) => Promise<ExchangeAnswer | Upgraded> | ExchangeAnswer | Upgraded

/** By the first part of the path. */
const answerers: ReadonlyMap<string, Answerer> = new Map<string, Answerer>([
  ['containerLogs', containerLogs],
  ['exec', exec],
  ['attach', attach],
  ['portForward', async (asked) => (await import('./port-forward.ts')).portForward(asked)],
])

export function simulatedKubelet(request: ApiRequest, node: string): NodeConnection {
  return {
    host: node,
    port: '10250',
    isSimulated: true,
    speaksWebSocket: true,
    async ask(call) {
      const { pathname, searchParams: query } = new URL(call.target, 'https://node')
      const [, verb = '', namespace = '', name = '', container = '', ...more] = pathname.split('/')
      if (pathname === '/healthz') return answer(200, 'ok')
      const answerer = answerers.get(verb)
      if (answerer === undefined || more.length > 0) return answer(404, '404 page not found\n')
      const pod = await storedObject<Pod>(request, { group: '', resource: 'pods' }, `${namespace}/${name}`)
      if (pod?.spec?.nodeName !== node) return answer(404, `pod does not exist`)
      return answerer({ request, call, query, pod, container })
    },
  }
}
