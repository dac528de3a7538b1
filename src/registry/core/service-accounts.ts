import type { ServiceAccount } from '../../api/core/v1.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import { serviceAccountPrinter } from '../../codec/table/core.ts'
import type { BuiltInDefinition } from '../built-in-definition.ts'
import { keyOf, work } from '../work/work.ts'

export const DEFAULT_SERVICE_ACCOUNT = 'default'
const ENFORCED = 'kubernetes.io/enforce-mountable-secrets'

export const serviceAccounts: BuiltInDefinition<ServiceAccount> = {
  endpoints: { token: 'token' },
  withoutTable: ['token'],
  printer: serviceAccountPrinter,
  work: ({ object, old }) =>
    object === undefined && old !== undefined
      ? [
          ...(old.metadata.name === DEFAULT_SERVICE_ACCOUNT ? work('service-account', old.metadata.namespace) : []),
          ...work('service-account-departed', keyOf(old)),
        ]
      : [],
  prepareForCreate: keepOnlyNames,
  prepareForUpdate: keepOnlyNames,
  validateUpdate: ({ metadata }) => validateObjectMeta(metadata, true, subdomainName),
  warningsOnCreate: (account) => warnings(account),
  warningsOnUpdate: warnings,
}

/** A reference keeps only its name, because a ServiceAccount can use only Secrets of its own namespace. */
function keepOnlyNames(account: ServiceAccount): void {
  account.secrets = account.secrets?.map(({ name }) => ({ name }))
}

function warnings({ metadata }: ServiceAccount, old?: ServiceAccount): string[] {
  if (metadata.annotations?.[ENFORCED] === undefined || old?.metadata.annotations?.[ENFORCED] !== undefined) return []
  return [
    `metadata.annotations[${ENFORCED}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ]
}
