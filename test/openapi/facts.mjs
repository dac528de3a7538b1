import fs from 'fs'; import crypto from 'crypto'
const dir='/work/shared/kubernetes/v1.36/'
export const o=JSON.parse(fs.readFileSync(dir+'openapi-v3.json','utf8')), oa=JSON.parse(fs.readFileSync(dir+'openapi-v3-all.json','utf8'))
const schemas={...o.schemas,...oa.schemas}, params={...o.parameters,...oa.parameters}
export function doc(key){const d=o.documents[key]??oa.documents[key];const core=key==='api/v1';
 const m=/^apis\/([^/]+)\/([^/]+)$/.exec(key)
 const walk=x=>Array.isArray(x)?x.map(walk):x&&typeof x==='object'?Object.fromEntries(Object.entries(x).map(([k,v])=>[k,k==='parameters'&&Array.isArray(v)?v.map(p=>typeof p==='string'?params[p]:p):walk(v)])):x
 const comp={}
 if(d.schemas){comp.schemas={};for(const n of d.schemas){let s=schemas[n];if(m&&/meta\.v1\.(DeleteOptions|WatchEvent)$/.test(n)){s={...s,'x-kubernetes-group-version-kind':[...s['x-kubernetes-group-version-kind'],{group:m[1],kind:n.split('.').pop(),version:m[2]}]}}comp.schemas[n]=s}}
 comp.securitySchemes=o.securitySchemes
 return {openapi:o.openapi,info:o.info,paths:walk(d.paths),components:comp}}
export const goJson=x=>JSON.stringify(x).replace(/[<>&]/g,c=>({'<':'\\u003c','>':'\\u003e','&':'\\u0026'})[c])
export const sha=s=>crypto.createHash('sha512').update(s).digest('hex').toUpperCase()
export const keys=[...Object.keys(o.documents)], allKeys=[...Object.keys(oa.documents)]
