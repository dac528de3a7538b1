/** A cluster-wide definition whose documents are long. @param group the first label of it */
export const wideDefinition = (
  plural: string,
  group: string,
  fields: number,
  description: (field: number) => string,
) => ({
  metadata: { name: `${plural}.${group}.example.com` },
  spec: {
    group: `${group}.example.com`,
    scope: 'Cluster',
    names: { plural, singular: plural, kind: plural, listKind: `${plural}list` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: Object.fromEntries(
              Array.from({ length: fields }, (_, n) => [`field${n}`, { type: 'string', description: description(n) }]),
            ),
          },
        },
      },
    ],
  },
})
