/** How long ServiceAccounts' tokens may live (kube-apiserver's --service-account-*-token-expiration). */
import { internalError } from '../api/status.ts'
import { logError } from '../log/log.ts'
import { settingsOf } from '../settings.ts'
import type { SigningContext } from './external-signer.ts'
import { SignerFailed, externalSigner } from './external-signer.ts'

const YEAR_SECONDS = 365 * 24 * 3600

export interface TokenLifetime {
  /** Seconds; Infinity: what is asked for. */
  readonly longest: number
  /** Seconds, for kubelets that ask for as long as kubelets do: old clients never reload. Undefined: no longer. */
  readonly extendedTo: number | undefined
}

/** @throws StatusError 500 where the signer does not tell, or allows less than the setting; 429 */
export async function tokenLifetime(context: SigningContext): Promise<TokenLifetime> {
  const { maxTokenSeconds, extendsTokens } = settingsOf(context.env)
  const signers = await signersLongest(context)
  if (maxTokenSeconds !== undefined && maxTokenSeconds > signers) {
    const text = `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${maxTokenSeconds}s > ${signers}s`
    logError(text)
    throw internalError(`failed to generate token: ${text}`)
  }
  return {
    longest: maxTokenSeconds ?? signers,
    extendedTo: extendsTokens ? Math.min(YEAR_SECONDS, signers) : undefined,
  }
}

async function signersLongest(context: SigningContext): Promise<number> {
  try {
    return (await externalSigner(context.env)?.maxSeconds(context)) ?? Infinity
  } catch (error) {
    if (!(error instanceof SignerFailed)) throw error
    throw internalError(`failed to generate token: ${error.message}`)
  }
}
