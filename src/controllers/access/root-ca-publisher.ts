import { settingsOf } from '../../settings.ts'
import type { ConfigMap } from '../../api/core/v1.ts'
import { managerClients } from '../client/clientset.ts'
import type { KubeObject } from '../../api/object.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { isActiveNamespace } from '../namespaces/namespace-state.ts'
import { ROOT_CA } from '../../registry/core/config-maps.ts'
import { createUnlessThere } from '../work/unless-gone.ts'
import { TOKEN_SECRET_TYPE } from './service-account-secret.ts'

const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/**
 * Keeps the server's CA, and nothing else, in a ConfigMap of every namespace. Key: the namespace; or empty, which
 * queues all namespaces whose ConfigMap has another CA, and all token Secrets.
 */
export const rootCaPublisher: Controller = {
  neverGivesUp: true,
  async reconcile(namespace, context) {
    if (namespace === '') return publishAgain(context)
    if (!(await isActiveNamespace(context, namespace))) return undefined
    const configMaps = managerClients(context).resource({ group: '', resource: 'configmaps' }, namespace)
    const data = rootCaData(context)
    const present = (await configMaps.get(ROOT_CA)) as ConfigMap | undefined
    if (present === undefined) {
      const configMap: ConfigMap = {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: ROOT_CA, namespace, annotations: { 'kubernetes.io/description': DESCRIPTION } },
        data,
      }
      await createUnlessThere(configMaps, configMap)
    } else if (JSON.stringify(present.data) !== JSON.stringify(data)) {
      await configMaps.updateWithRetries(present, (object) => Object.assign(object, { data }))
    }
    return undefined
  },
}

const rootCaData = ({ env }: ControllerContext) => ({ 'ca.crt': settingsOf(env).rootAuthorities ?? '' })

async function publishAgain(context: ControllerContext): Promise<undefined> {
  const wanted = JSON.stringify(rootCaData(context))
  const everywhere = (resource: string) => managerClients(context).resource({ group: '', resource }, '')
  for await (const object of everywhere('configmaps').each({ fields: { 'metadata.name': ROOT_CA } })) {
    const { data, metadata }: ConfigMap & KubeObject = object
    if (JSON.stringify(data) !== wanted) context.later('root-ca-publisher', metadata.namespace ?? '', 0)
  }
  for await (const { metadata } of everywhere('secrets').each({ fields: { type: TOKEN_SECRET_TYPE } }))
    context.later('service-account-secret', `${metadata.namespace}/${metadata.name}`, 0)
}
