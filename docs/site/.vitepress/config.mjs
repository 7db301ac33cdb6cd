// The documentation as a static site with search. Its pages are the Markdown files of the repository, where they stand.
import { cpSync, existsSync, readFileSync, statSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { defineConfig } from "vitepress";

const root = resolve(import.meta.dirname, "../../..");
const modules = (path) => resolve(import.meta.dirname, "../node_modules", path);

/** The sections of docs/README.md, each with the pages of its table. */
function sidebar() {
  const index = readFileSync(resolve(root, "docs/README.md"), "utf8");
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.slice(0, section.search(/[:\n]/)),
      items: [...section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text, link]) => ({
        text,
        link: new URL(link, "http://site/docs/README.md").pathname.replace(/README\.md$/, "").replace(/\.md$/, ""),
      })),
    }));
}

/** The linked files that are no pages, such as contracts. They are copied into the site. */
const files = new Set();

function noteFiles(markdown) {
  const plain = markdown.renderer.rules.link_open;
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const link = tokens[index].attrGet("href");
    const file = resolve(root, dirname(env.relativePath), decodeURI(link.replace(/#.*/, "")));
    if (!/^[a-z]+:|^#|\.md(#|$)/.test(link) && existsSync(file) && statSync(file).isFile()) {
      files.add(file);
    }
    return plain(tokens, index, options, env, self);
  };
}

export default defineConfig({
  title: "Tollgate",
  description: "Per-tenant admission control for WebSocket SaaS on AWS",
  srcDir: root,
  outDir: resolve(root, "docs/site/target"),
  srcExclude: ["**/target/**", "**/node_modules/**", "**/src/**"],
  rewrites: (page) => page.replace(/README\.md$/, "index.md"),
  cleanUrls: true,
  base: process.env.SITE_BASE ?? "/",
  // These files are copied into the site: vitepress looks for pages only. MarkdownLinksTest checks that they exist.
  ignoreDeadLinks: [/\/LICENSE$/, /\.(java|vtl)$/],
  markdown: { config: noteFiles },
  // The pages stand outside this directory, and so cannot find its modules.
  vite: {
    resolve: {
      alias: [
        { find: /^vue\/server-renderer$/, replacement: modules("@vue/server-renderer/dist/server-renderer.esm-bundler.js") },
        { find: /^vue$/, replacement: modules("vue/dist/vue.runtime.esm-bundler.js") },
      ],
    },
  },
  buildEnd({ outDir }) {
    files.forEach((file) => cpSync(file, resolve(outDir, relative(root, file))));
    console.log(`${files.size} linked files copied`);
  },
  themeConfig: {
    search: { provider: "local" },
    sidebar: sidebar(),
    nav: [
      { text: "Documentation", link: "/docs/" },
      { text: "Security", link: "/SECURITY" },
      { text: "Contributing", link: "/CONTRIBUTING" },
    ],
    outline: [2, 3],
  },
});
