/**
 * Labels the Secret of a token with the day of its last use (KEP 2799), for administrators who look for tokens that
 * nobody uses. The request does not wait, and goes on where the label cannot be written.
 */
import { admissionChain } from '../admission/chain.ts'
import type { Secret } from '../api/core/v1.ts'
import { conflict } from '../api/status.ts'
import type { KubeObject } from '../api/object.ts'
import { logError } from '../log/log.ts'
import { loopbackScope } from '../registry/scope.ts'
import { changeAsServer } from '../registry/write/change-as-server.ts'
import type { ApiRequest } from '../request/context.ts'
import type { UsedSecret } from '../request/used-secret.ts'
import { LAST_USED } from '../request/used-secret.ts'

const SECRETS = { group: '', version: 'v1', resource: 'secrets' }

export function noteSecretUses(request: ApiRequest): void {
  for (const secret of request.usedSecrets) if (secret.take()) request.waitUntil(label(request, secret))
}

async function label(request: ApiRequest, { namespace, name, uid, day }: UsedSecret): Promise<void> {
  try {
    const scope = loopbackScope(request, 'patch', SECRETS, { namespace, name })
    await changeAsServer<Secret & KubeObject>(scope, admissionChain, ({ metadata }) => {
      if (metadata.uid !== uid) throw conflict(SECRETS, name, 'it is another Secret now')
      metadata.labels = { ...metadata.labels, [LAST_USED]: day }
    })
  } catch (error) {
    logError('Failed to label legacy service account token with last-used date', {
      secret: `${namespace}/${name}`,
      error: error instanceof Error ? error.message : String(error),
    })
  }
}
