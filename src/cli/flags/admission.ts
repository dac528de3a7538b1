// Joins the file of --admission-control-config-file, and the files to which it refers, in one setting of the Worker.
import { dirname, isAbsolute, join, resolve } from 'node:path'
import * as z from 'zod/mini'
import { CannotStart } from '../start/options.ts'
import { readText, readYaml } from './yaml-file.ts'

const configuration = z.looseObject({
  kind: z.optional(z.string()),
  plugins: z.optional(
    z.nullable(
      z.array(
        z.looseObject({ name: z.string(), path: z.optional(z.string()), configuration: z.optional(z.unknown()) }),
      ),
    ),
  ),
})

/** Plugins whose configuration files kube-apiserver accepts without an AdmissionConfiguration around them. */
const legacy = { imagePolicy: 'ImagePolicyWebhook', podNodeSelectorPluginConfig: 'PodNodeSelector' } as const

/** An AdmissionConfiguration in JSON. */
export function readAdmissionConfig(file: string): string {
  const read = readYaml(file, `unable to read admission control configuration from ${JSON.stringify(file)}`)
  const result = configuration.safeParse(read)
  // the reader of the setting reports the errors
  if (!result.success) return JSON.stringify(read)
  const { kind, plugins, ...rest } = result.data
  if (kind === undefined) {
    const found = Object.keys(legacy).find((field) => Object.hasOwn(rest, field)) as keyof typeof legacy | undefined
    if (found === undefined) return JSON.stringify(read)
    return JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'AdmissionConfiguration',
      plugins: [{ name: legacy[found], configuration: withKubeconfigs(read) }],
    })
  }
  const whole = plugins?.map(({ path, configuration: own, ...plugin }) => ({
    ...plugin,
    configuration: withKubeconfigs(
      own ?? (path ? readYaml(join(isAbsolute(path) ? '/' : dirname(file), path)) : undefined),
    ),
  }))
  return JSON.stringify({ ...rest, kind, ...(whole === undefined ? {} : { plugins: whole }) })
}

const webhooks = z.looseObject({ kind: z.string(), kubeConfigFile: z.string() })
const imagePolicy = z.looseObject({ imagePolicy: z.looseObject({ kubeConfigFile: z.string() }) })

/** Replaces the name of a kubeconfig file by its content. */
function withKubeconfigs(own: unknown): unknown {
  const policy = imagePolicy.safeParse(own)
  if (policy.success) {
    const { kubeConfigFile, ...rest } = policy.data.imagePolicy
    return { ...policy.data, imagePolicy: { ...rest, kubeConfig: readKubeconfig(resolve(kubeConfigFile)) } }
  }
  const clients = webhooks.safeParse(own)
  if (!clients.success) return own
  const { kubeConfigFile, ...rest } = clients.data
  if (!isAbsolute(kubeConfigFile))
    throw new CannotStart(
      `kubeConfigFile: Invalid value: ${JSON.stringify(kubeConfigFile)}: must be an absolute file path`,
    )
  return { ...rest, kubeConfig: readKubeconfig(kubeConfigFile) }
}

const text = z.optional(z.string())
const kubeconfig = z.looseObject({
  clusters: z.optional(z.array(z.looseObject({ cluster: z.looseObject({ 'certificate-authority': text }) }))),
  users: z.optional(
    z.array(
      z.looseObject({
        user: z.nullish(
          z.looseObject({ 'client-certificate': text, 'client-key': text, tokenFile: text, token: text }),
        ),
      }),
    ),
  ),
})

/** A kubeconfig with the content of the files to which it refers. */
function readKubeconfig(file: string): unknown {
  const result = kubeconfig.safeParse(readYaml(file))
  if (!result.success) throw new CannotStart(`${file} is no kubeconfig: ${z.prettifyError(result.error)}`)
  const within = (name: string) => resolve(dirname(file), name)
  const encoded = (field: string, name: string | undefined) =>
    name === undefined ? {} : { [`${field}-data`]: readText(within(name)).toString('base64') }
  return {
    ...result.data,
    clusters: result.data.clusters?.map(({ cluster, ...rest }) => {
      const { 'certificate-authority': authority, ...own } = cluster
      return { ...rest, cluster: { ...own, ...encoded('certificate-authority', authority) } }
    }),
    users: result.data.users?.map(({ user, ...rest }) => {
      const { 'client-certificate': certificate, 'client-key': key, tokenFile, token, ...own } = user ?? {}
      const said = token || (tokenFile && readText(within(tokenFile)).toString('utf8').trim())
      return {
        ...rest,
        user: {
          ...own,
          ...encoded('client-certificate', certificate),
          ...encoded('client-key', key),
          ...(said ? { token: said } : {}),
        },
      }
    }),
  }
}
