// The home page changes on disk when a check has run. JupyterLab shows a file as it was when it was
// opened, so this looks once a second whether an open Home.md has changed, and reads it again.
//
// The last lines are what JupyterLab expects of an extension that is built; this one needs no build.
(() => {
  const PAGE = /(^|\/)Home\.md$/;
  const SOON = 1000; // ms
  const LATER = 30000; // ms; the server doesn't answer

  const isStale = async (context, contents) => {
    if (!context.isReady || context.model.dirty) return false; // never over somebody's edits
    const now = await contents.get(context.path, { content: false });
    return context.contentsModel && now.last_modified !== context.contentsModel.last_modified;
  };

  const activate = (app) => {
    const look = async () => {
      let wait = SOON;
      try {
        for (const { context } of document.hidden ? [] : [...app.shell.widgets("main")]) {
          if (context && PAGE.test(context.path)) {
            if (await isStale(context, app.serviceManager.contents)) await context.revert();
          }
        }
      } catch {
        wait = LATER;
      }
      setTimeout(look, wait);
    };
    app.restored.then(look);
  };

  const plugin = { id: "minipaddle-home:refresh", autoStart: true, activate };
  window._JUPYTERLAB = window._JUPYTERLAB || {};
  window._JUPYTERLAB["minipaddle-home"] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
