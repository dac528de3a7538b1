import { managerClients } from '../client/clientset.ts'
import type { Controller } from '../controller.ts'
import { DEFAULT_SERVICE_ACCOUNT } from '../../registry/core/service-accounts.ts'
import { isActiveNamespace } from '../namespaces/namespace-state.ts'
import { createUnlessThere } from '../work/unless-gone.ts'

/** Creates the ServiceAccount `default` of every namespace. Key: the namespace. */
export const serviceAccountController: Controller = {
  neverGivesUp: true,
  async reconcile(namespace, context) {
    if (!(await isActiveNamespace(context, namespace))) return undefined
    const accounts = managerClients(context).resource({ group: '', resource: 'serviceaccounts' }, namespace)
    if ((await accounts.get(DEFAULT_SERVICE_ACCOUNT)) !== undefined) return undefined
    const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: DEFAULT_SERVICE_ACCOUNT, namespace } }
    await createUnlessThere(accounts, account)
    return undefined
  },
}
