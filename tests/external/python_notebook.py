"""python_notebook.py LIBRARY ROOT: every cell of examples/jax/lowtide.ipynb runs, and the report is drawn. --control: one asserts what isn't so."""
import os
import sys
import tempfile

sys.dont_write_bytecode = True


def main():
    try:
        import ipykernel  # noqa: F401
        import jax  # noqa: F401
        import nbclient
        import nbformat
    except ImportError as error:
        print(f"SKIP: {error}")
        return 0
    library, root = sys.argv[1:3]
    os.environ |= {"LOWTIDE_PJRT_LIBRARY": os.path.abspath(library), "PYTHONPATH": os.path.abspath(os.path.join(root, "python")), "JAX_PLATFORMS": "cpu"}
    notebook = nbformat.read(os.path.join(root, "examples", "jax", "lowtide.ipynb"), as_version=4)
    if "--control" in sys.argv:
        notebook.cells.append(nbformat.v4.new_code_cell("assert fitted.plan['plans_tried'] == 0"))
    with tempfile.TemporaryDirectory() as folder:
        try:
            nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": folder}}).execute()
        except nbclient.exceptions.CellExecutionError as error:
            print(str(error)[-2000:])
            return int("--control" not in sys.argv or "plans_tried" not in str(error))
    pages = [output["data"] for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs if "data" in output]
    assert any("<iframe" in page.get("text/html", "") for page in pages), "no report was drawn"
    print(f"{sum(cell.cell_type == 'code' for cell in notebook.cells)} cells ran")
    return int("--control" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
