/** The lifetime of ServiceAccount tokens (kube-apiserver's --service-account-*-token-expiration). */
import { StatusError, internalError } from '../api/status.ts'
import type { Env } from '../env.ts'
import { logError } from '../log/log.ts'
import { settingsOf } from '../settings.ts'
import { BadConfiguration } from './configuration-text.ts'
import type { SigningContext } from './external-signer.ts'
import { SignerFailed, externalSigner } from './external-signer.ts'

const YEAR_SECONDS = 365 * 24 * 3600

export interface TokenLifetime {
  /** Seconds; Infinity where there is no limit. */
  readonly longest: number
  /**
   * The lifetime in seconds that kubelets' tokens with their usual lifetime get, because old clients never reload
   * them. Undefined: no extension.
   */
  readonly extendedTo: number | undefined
}

/** @throws StatusError 500 where the signer does not answer, or allows less than the setting; 429 */
export async function tokenLifetime(context: SigningContext): Promise<TokenLifetime> {
  const { maxTokenSeconds, extendsTokens } = settingsOf(context.env)
  const signers = await signersLongest(context)
  const text = tooLong(maxTokenSeconds, signers)
  if (text !== undefined) {
    logError(text)
    throw internalError(`failed to generate token: ${text}`)
  }
  return {
    longest: maxTokenSeconds ?? signers,
    extendedTo: extendsTokens ? Math.min(YEAR_SECONDS, signers) : undefined,
  }
}

/**
 * Asks the signer when a server starts. A signer that does not answer is asked again for the first token.
 * @throws BadConfiguration where the setting allows more than the signer, or the signer allows too little
 */
export async function checkSignersLifetime(env: Env): Promise<void> {
  let longest: number
  try {
    longest = (await externalSigner(env)?.maxSeconds({ env })) ?? Infinity
  } catch (error) {
    if (error instanceof SignerFailed && error.isRule) throw new BadConfiguration(error.message)
    if (error instanceof SignerFailed || error instanceof StatusError) return logError(error.message)
    throw error
  }
  const text = tooLong(settingsOf(env).maxTokenSeconds, longest)
  if (text !== undefined) throw new BadConfiguration(text)
}

const tooLong = (setting: number | undefined, signers: number): string | undefined =>
  setting === undefined || setting <= signers
    ? undefined
    : `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${setting}s > ${signers}s`

async function signersLongest(context: SigningContext): Promise<number> {
  try {
    return (await externalSigner(context.env)?.maxSeconds(context)) ?? Infinity
  } catch (error) {
    if (!(error instanceof SignerFailed)) throw error
    throw internalError(`failed to generate token: ${error.message}`)
  }
}
