/** The Worker's settings for a local server; src/env.ts documents them. */
import { join } from 'node:path'
import { problemOf } from '../../settings.ts'
import type { Pki } from '../data-directory/pki.ts'
import { readWranglerConfig } from '../engine/wrangler-config.ts'
import { PROJECT } from '../fresh-build.mjs'
import { CannotStart } from './options.ts'
import type { StartOptions } from './options.ts'

/** The content of wrangler.toml. */
export const workerConfig = () => readWranglerConfig(join(PROJECT, 'wrangler.toml'))

/** MiB. The engine of a local server may have more than an isolate of Cloudflare. */
const CONTROLLER_MEMORY = '256'

export const optionSettings = ({
  passedOn,
  encryptionKeys,
  audit,
  admission,
  clientAuthorities,
  server,
  kubeletAuthority,
  identity,
  serviceAccounts,
  workloads,
  schedulerConfig,
}: StartOptions): Record<string, string> => ({
  KEDGE_CONTROLLER_MEMORY: CONTROLLER_MEMORY,
  ...passedOn,
  ...identity?.settings,
  ...serviceAccounts,
  ...(encryptionKeys === undefined ? {} : { KEDGE_ENCRYPTION_KEYS: encryptionKeys }),
  ...audit?.settings,
  ...admission,
  ...(clientAuthorities === undefined ? {} : { KEDGE_CLIENT_CA: clientAuthorities }),
  ...(server === undefined ? {} : { KEDGE_ROOT_CA: server.certificate }),
  ...(kubeletAuthority === undefined ? {} : { KEDGE_KUBELET_CA: kubeletAuthority }),
  ...(workloads === undefined ? {} : { KEDGE_WORKLOADS: workloads }),
  ...(schedulerConfig === undefined ? {} : { KEDGE_SCHEDULER_CONFIG: schedulerConfig }),
})

export function settings(pki: Pki, url: string, options: StartOptions): Record<string, string> {
  return {
    ...optionSettings(options),
    ...(process.env['KEDGE_COUNT_WAKES'] ? { KEDGE_COUNT_WAKES: '1' } : {}),
    KEDGE_REPAIR_AT_START: '1',
    KEDGE_ADMIN_TOKEN: pki.administratorToken,
    KEDGE_CA: pki.authorities,
    KEDGE_CA_KEY: pki.authority.key,
    KEDGE_REQUESTHEADER_CA: pki.frontProxyAuthorities,
    ...(signerOf(options) === undefined ? ownKeys(pki) : {}),
    KEDGE_ADVERTISE: new URL(url).host,
    KEDGE_STREAM_ENCODING: '',
    KEDGE_SUBREQUESTS: process.env['KEDGE_SUBREQUESTS'] ?? 'unlimited',
  }
}

const signerOf = ({ serviceAccounts }: StartOptions): string | undefined => serviceAccounts?.['KEDGE_SA_SIGNER']

const ownKeys = ({ serviceAccountKey, retiredServiceAccountKeys }: Pki): Record<string, string> => ({
  KEDGE_SA_KEY: serviceAccountKey,
  ...(retiredServiceAccountKeys && { KEDGE_SA_RETIRED_KEYS: retiredServiceAccountKeys }),
})

export const clientAuthoritiesOf = (pki: Pki, { clientAuthorities = '' }: StartOptions): string[] => [
  pki.authorities,
  pki.frontProxyAuthorities,
  clientAuthorities,
]

/**
 * Checks settings that do not come from the data directory, before anything is written.
 * @throws CannotStart
 */
export const checkOptions = (options: StartOptions): void => checkSettings(optionSettings(options))

/**
 * With invalid settings the Worker would answer every request with an error. So the start fails with the Worker's
 * text.
 * @throws CannotStart
 */
export function checkSettings(own: Readonly<Record<string, string>>): void {
  const problem = settingsProblem(own)
  if (problem !== undefined) throw new CannotStart(problem)
}

export function settingsProblem(own: Readonly<Record<string, string>>): string | undefined {
  const problem = problemOf({ ...workerConfig().vars, ...own })
  return problem && `The settings are wrong: ${problem.details}`
}
