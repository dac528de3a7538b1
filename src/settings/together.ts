/** Checks across settings: two that contradict each other, and one that has no effect without another. */
import { ownValue } from '../base/own.ts'
import type { AdmissionSetting } from '../configuration/admission.ts'
import { admissionSetting } from '../configuration/admission.ts'
import { isAuthority } from '../x509/authority.ts'
import type { Certificate } from '../x509/certificate.ts'
import { readAuthorities } from '../x509/client-chain.ts'
import { isKeyOf } from '../x509/key-pair.ts'
import { pemBlocks } from '../x509/pem.ts'
import type { Values } from './schema.ts'
import type { Problem } from './setting.ts'

/** Combinations of valid settings that are invalid together. */
const contradictions: readonly { readonly text: string; readonly isThere: (values: Values) => boolean }[] = [
  {
    text: 'KEDGE_CA_KEY is not the key of the first certificate of KEDGE_CA',
    isThere: ({ KEDGE_CA, KEDGE_CA_KEY }) => {
      const [certificate] = authoritiesIn(KEDGE_CA)
      const [block] = pemBlocks(KEDGE_CA_KEY ?? '')
      return certificate !== undefined && block !== undefined && !isKeyOf(block.bytes, certificate)
    },
  },
  {
    text: 'KEDGE_CA_KEY signs for the first certificate of KEDGE_CA, which is no authority',
    isThere: ({ KEDGE_CA, KEDGE_CA_KEY }) => {
      const [block] = pemBlocks(KEDGE_CA ?? '').filter(({ type }) => type === 'CERTIFICATE')
      return KEDGE_CA_KEY !== undefined && block !== undefined && !isAuthority(block.bytes)
    },
  },
  {
    text: 'KEDGE_SA_SIGNER, which has the keys, and KEDGE_SA_KEY or KEDGE_SA_RETIRED_KEYS exclude each other',
    isThere: ({ KEDGE_SA_SIGNER, KEDGE_SA_KEY, KEDGE_SA_RETIRED_KEYS }) =>
      KEDGE_SA_SIGNER !== undefined && (KEDGE_SA_KEY ?? KEDGE_SA_RETIRED_KEYS) !== undefined,
  },
  {
    text: 'KEDGE_SCHEDULER_CONFIG is for a scheduler that does not run: KEDGE_WORKLOADS is not simulated, or KEDGE_CONTROLLERS leaves it out',
    isThere: ({ KEDGE_SCHEDULER_CONFIG, KEDGE_WORKLOADS, KEDGE_CONTROLLERS }) =>
      KEDGE_SCHEDULER_CONFIG !== undefined &&
      (KEDGE_WORKLOADS !== 'simulated' || KEDGE_CONTROLLERS?.isEnabled('kube-scheduler') === false),
  },
  {
    // every client could impersonate any user by request headers
    text: 'KEDGE_REQUESTHEADER_CA and KEDGE_CA have an authority in common: clients would be front proxies',
    isThere: ({ KEDGE_CA, KEDGE_REQUESTHEADER_CA }) => haveOneInCommon(KEDGE_CA, KEDGE_REQUESTHEADER_CA),
  },
  {
    text: 'KEDGE_REQUESTHEADER_CA and KEDGE_CLIENT_CA have an authority in common: clients would be front proxies',
    isThere: ({ KEDGE_CLIENT_CA, KEDGE_REQUESTHEADER_CA }) => haveOneInCommon(KEDGE_CLIENT_CA, KEDGE_REQUESTHEADER_CA),
  },
]

export const contradictionsIn = (values: Values): Problem[] =>
  contradictions.filter(({ isThere }) => isThere(values)).map(({ text }) => ({ text, why: '' }))

const authoritiesIn = (pem: string | undefined): readonly Certificate[] =>
  pem === undefined ? [] : readAuthorities(pem)

function haveOneInCommon(clients: string | undefined, proxies: string | undefined): boolean {
  const keys = new Set(authoritiesIn(clients).map(publicKeyText))
  return authoritiesIn(proxies).some((authority) => keys.has(publicKeyText(authority)))
}

const publicKeyText = ({ publicKey }: Certificate): string => publicKey.join()

/** Settings that have no effect without another one, which must be set too. */
const needs: Readonly<Record<string, readonly [setting: string, why: string]>> = {
  KEDGE_CA_KEY: ['KEDGE_CA', ', whose key it is'],
  KEDGE_AUDIT_WEBHOOK: ['KEDGE_AUDIT_POLICY', ', which says what is sent'],
  KEDGE_AUDIT_LOG_MODE: ['KEDGE_AUDIT_POLICY', ', which says what is written'],
  KEDGE_AUDIT_CONSOLE: ['KEDGE_AUDIT_POLICY', ', which says what is written'],
  KEDGE_ENCRYPTION_RESOURCES: ['KEDGE_ENCRYPTION_KEYS', ''],
  KEDGE_CONTROLLERS: ['KEDGE_WORKLOADS', ', whose controllers it names'],
}

const isOff = (value: unknown): boolean => value === undefined || value === '' || value === '0'

/** @param named the settings, by name */
export const unmetNeeds = (named: Readonly<Record<string, unknown>>): Problem[] =>
  Object.entries(needs)
    .filter(([name, [needed]]) => !isOff(ownValue(named, name)) && !Object.hasOwn(named, needed))
    .map(([name, [needed, why]]) => ({ text: `${name} needs ${needed}${why}`, why: '' }))

/** Combines the settings of admission, or returns the problem where they contradict each other. */
export function admissionOf(values: Values): AdmissionSetting | Problem {
  const { KEDGE_ENABLE_ADMISSION_PLUGINS: enable, KEDGE_DISABLE_ADMISSION_PLUGINS: disable } = values
  try {
    return admissionSetting({ enable, disable }, values.KEDGE_ADMISSION_CONFIG)
  } catch (error) {
    const names = 'KEDGE_ENABLE_ADMISSION_PLUGINS, KEDGE_DISABLE_ADMISSION_PLUGINS and KEDGE_ADMISSION_CONFIG'
    return { text: `${names} do not go together`, why: error instanceof Error ? error.message : String(error) }
  }
}
