import { settingsOf } from '../settings.ts'
import type { ConfigMap } from '../api/core/v1.ts'
import { managerClients } from './clientset.ts'
import type { Controller } from './controller.ts'
import { isActiveNamespace } from './namespace-state.ts'
import { ROOT_CA } from '../registry/outbox.ts'
import { ignoreExisting } from './service-account.ts'

const DESCRIPTION =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.'

/** Every namespace has the server's CA in a ConfigMap, and nothing else in it. Key: the namespace. */
export const rootCaPublisher: Controller = {
  async reconcile(namespace, context) {
    if (!(await isActiveNamespace(context, namespace))) return undefined
    const configMaps = managerClients(context).resource({ group: '', resource: 'configmaps' }, namespace)
    const data = { 'ca.crt': settingsOf(context.env).authority ?? '' }
    const present = (await configMaps.get(ROOT_CA)) as ConfigMap | undefined
    if (present === undefined) {
      const configMap: ConfigMap = {
        kind: 'ConfigMap',
        apiVersion: 'v1',
        metadata: { name: ROOT_CA, namespace, annotations: { 'kubernetes.io/description': DESCRIPTION } },
        data,
      }
      await configMaps.create(configMap).catch(ignoreExisting)
    } else if (JSON.stringify(present.data) !== JSON.stringify(data)) {
      await configMaps.updateWithRetries(ROOT_CA, (object) => Object.assign(object, { data }))
    }
    return undefined
  },
}
