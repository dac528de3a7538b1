import type { ServiceAccount } from '../../api/core/v1.ts'
import { subdomainName } from '../../validation/names.ts'
import { validateObjectMeta } from '../../validation/object-meta.ts'
import type { Strategy } from '../strategy.ts'

const ENFORCED = 'kubernetes.io/enforce-mountable-secrets'

export const serviceAccounts: Strategy<ServiceAccount> = {
  deleteAnswersObject: true,
  prepareForCreate: keepOnlyNames,
  prepareForUpdate: keepOnlyNames,
  validateUpdate: ({ metadata }) => validateObjectMeta(metadata, true, subdomainName),
  warningsOnCreate: (account) => warnings(account),
  warningsOnUpdate: warnings,
}

/** Secrets are those of the same namespace, whatever else a reference says. */
function keepOnlyNames(account: ServiceAccount): void {
  account.secrets = account.secrets?.map(({ name }) => ({ name }))
}

function warnings({ metadata }: ServiceAccount, old?: ServiceAccount): string[] {
  if (metadata.annotations?.[ENFORCED] === undefined || old?.metadata.annotations?.[ENFORCED] !== undefined) return []
  return [
    `metadata.annotations[${ENFORCED}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`,
  ]
}
