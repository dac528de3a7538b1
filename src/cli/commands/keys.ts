// `kedge keys rotate`: replaces a signing key. Earlier signatures stay valid as long as they should.
import { dataDirectory } from '../data-directory/data-directory.ts'
import type { AuthorityName, RotationStep } from '../data-directory/rotate-authority.ts'
import { ROTATION_STEPS, rotateAuthority } from '../data-directory/rotate-authority.ts'
import { rotateServiceAccountKey } from '../data-directory/service-account-key.ts'
import { UsageError, parse } from '../flags/usage.ts'

export async function runKeys(args: string[]): Promise<void> {
  const [action, ...rest] = args
  if (action !== 'rotate') throw new UsageError('keys does one thing: kedge keys rotate')
  const flags = parse(rest, {
    ca: { type: 'string' },
    'front-proxy-ca': { type: 'string' },
    force: { type: 'boolean', default: false },
    'data-dir': { type: 'string', default: '.kedge' },
  })
  const { pki } = dataDirectory(flags['data-dir'])
  const { ca, 'front-proxy-ca': frontProxyCa, force } = flags
  if (ca !== undefined && frontProxyCa !== undefined) throw new UsageError('--ca and --front-proxy-ca: one at a time.')
  if (ca !== undefined) return rotateCa(pki, 'ca', ca, force)
  if (frontProxyCa !== undefined) return rotateCa(pki, 'front-proxy-ca', frontProxyCa, force)
  const { made, retired, dropped } = await rotateServiceAccountKey(pki)
  console.log(`From the next start on, ServiceAccounts' tokens are signed with the key ${made}.`)
  console.log(`What ${retired} signed is good until it ends.`)
  if (dropped !== undefined)
    console.log(`What ${dropped} signed is not good any more: more keys than that are not kept.`)
}

/** What the next start changes, and the steps that follow it. */
const AFTER_STEP: Readonly<Record<AuthorityName, Readonly<Record<RotationStep, string>>>> = {
  ca: {
    begin: `From the next start on, a new CA is trusted beside the one that signs. Then give the kubeconfigs, nodes and
other clients that have the CA both of them ("kedge kubeconfig" prints them), and go on with
"kedge keys rotate --ca switch".`,
    switch: `From the next start on, the new CA signs, also the server's own certificate. What the old one signed is good
until it ends. When nobody has such a certificate any more, go on with "kedge keys rotate --ca finish".`,
    finish: 'From the next start on, the old CA and what it signed are not trusted any more.',
  },
  'front-proxy-ca': {
    begin: `From the next start on, a new CA of front proxies is trusted beside the one that signs. Aggregated API servers read
both in the ConfigMap extension-apiserver-authentication; front proxies of your own need both where they name them. Go on
with "kedge keys rotate --front-proxy-ca switch".`,
    switch: `From the next start on, the new CA signs, and this server shows aggregated API servers a certificate of it. When
front proxies of your own have certificates of it, too, go on with "kedge keys rotate --front-proxy-ca finish".`,
    finish: 'From the next start on, the old CA of front proxies and what it signed are not trusted any more.',
  },
}

async function rotateCa(directory: string, name: AuthorityName, wanted: string, isForced: boolean): Promise<void> {
  const step = ROTATION_STEPS.find((step) => step === wanted)
  if (step === undefined) throw new UsageError(`--${name} wants ${ROTATION_STEPS.join(', ')}, not "${wanted}".`)
  await rotateAuthority(directory, step, new Date(), name, isForced)
  console.log(AFTER_STEP[name][step])
}
