/** The public keys of ServiceAccount tokens, which anybody may read. */
import type { SigningContext } from './external-signer.ts'
import { externalSigner } from './external-signer.ts'
import type { VerificationKey } from './service-account-key.ts'
import { verificationKeys } from './service-account-key.ts'

const HOUR = 3600

/** @returns the keys, and the seconds for which a client may keep them */
export async function publishedKeys(
  context: SigningContext,
): Promise<{ readonly keys: readonly VerificationKey[]; readonly seconds: number }> {
  const signer = externalSigner(context.env)
  if (signer === undefined) return { keys: await verificationKeys(context.env), seconds: HOUR }
  const keys = (await signer.keysFor(context)).filter(({ isHidden }) => !isHidden)
  return { keys, seconds: signer.secondsToRefresh(context.now) }
}
